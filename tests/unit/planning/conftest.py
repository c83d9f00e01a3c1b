from tests.unit.platforms.sagemaker.planning.conftest import facts, listing, plan

__all__ = ["facts", "listing", "plan"]
