from tests.unit.sagemaker.conftest import facts, plan

__all__ = ["facts", "plan"]
