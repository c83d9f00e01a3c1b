"""An endpoint that a check deploys to see what an image does when it serves."""
