from tests.unit.sagemaker.hosting.fronts import front

__all__ = ["front"]
