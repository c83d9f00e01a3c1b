"""The image of the evaluator has no torch, whose import takes longer than the evaluation of most rules."""

raise ImportError("as in the image of the evaluator")
