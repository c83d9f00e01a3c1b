from tests.unit.platforms.sagemaker.planning.conftest import facts, plan

__all__ = ["facts", "plan"]
