from tests.unit.sagemaker.conftest import facts, listing, plan

__all__ = ["facts", "listing", "plan"]
