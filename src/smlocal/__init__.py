"""smlocal: run a SageMaker training container here exactly as the service would."""
