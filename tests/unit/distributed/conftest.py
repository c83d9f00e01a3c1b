from tests.unit.planning.conftest import facts, plan

__all__ = ["facts", "plan"]
