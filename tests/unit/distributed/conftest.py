from tests.unit.platforms.sagemaker.conftest import facts, plan

__all__ = ["facts", "plan"]
