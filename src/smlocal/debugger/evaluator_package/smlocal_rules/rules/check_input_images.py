"""Input images that are not normalised."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from smlocal_rules.built_in_rule import BuiltInRule
from smlocal_rules.failures import TensorError
from smlocal_rules.parameters import Patterns, number, optional, parameter, patterns, whole_number

if TYPE_CHECKING:
    from smlocal_rules.tensors import Array, Tensors


class ChannelSums:
    """Mean and variance of each channel over many batches of images."""

    def __init__(self) -> None:
        self.images = 0
        self._count = 0
        self._sum: Array = np.zeros(())
        self._squares: Array = np.zeros(())

    def add(self, images: "Array", channel: int) -> None:
        """One batch, whose first axis counts the images."""
        by_channel = np.moveaxis(images.astype(np.float64), channel, 0).reshape(images.shape[channel], -1)
        self.images += images.shape[0]
        self._count += by_channel.shape[1]
        self._sum = self._sum + by_channel.sum(axis=1)
        self._squares = self._squares + (by_channel**2).sum(axis=1)

    @property
    def means(self) -> "Array":
        """The mean of each channel."""
        return self._sum / self._count

    @property
    def variances(self) -> "Array":
        """The variance of each channel."""
        variances: Array = self._squares / self._count - self.means**2
        return variances


@dataclass(frozen=True, kw_only=True)
class CheckInputImages(BuiltInRule):
    """The mean of a colour channel of the input images is not near zero."""

    TABLE_1: ClassVar = ("Not normalized data",)
    DECISIONS: ClassVar = """
    - The paper looks at the variance too, which should be one. The guide's rule does not; give
      `threshold_variance` to have it.
    - In PyTorch, the input of the model is named after its class: `Net_input_0`. If no tensor matches the
      documented `regex`, the tensors of this form are judged.
    """

    threshold_mean: float = parameter(0.2, number, "How far from 0 the mean of a channel may be.")
    threshold_samples: int = parameter(500, whole_number, "How many images are looked at before the mean is judged.")
    regex: Patterns = parameter(
        Patterns((".*hybridsequential0_input_0",), (r"^(?!.*[Ll]oss)[A-Z]\w*_input_0$",)),
        patterns,
        "The name of the tensor with the images.",
    )
    channel: int = parameter(1, whole_number, "Which axis of the tensor is the colour channel; the first one is 0.")
    threshold_variance: float | None = parameter(
        None, optional(number), "How far from 1 the variance of a channel may be. The service does not have it."
    )

    _sums: ChannelSums = field(init=False, default_factory=ChannelSums)

    def judge(self, tensors: "Tensors") -> str | None:
        """The channel that is not normalised, when there have been enough images."""
        for name, images in tensors.values(tensors.matching(self.regex)[:1]):
            if images.ndim <= self.channel:
                text = f"{name} has the shape {images.shape}, so it has no axis {self.channel} (channel)."
                raise TensorError(text)
            self._sums.add(images, self.channel)
        if not self._sums.images or self._sums.images < self.threshold_samples:
            return None
        for index, (mean, variance) in enumerate(zip(self._sums.means, self._sums.variances, strict=True)):
            if abs(mean) > self.threshold_mean:
                return f"the mean of channel {index} is {mean:g} after {self._sums.images} images"
            if self.threshold_variance is not None and abs(variance - 1) > self.threshold_variance:
                return f"the variance of channel {index} is {variance:g} after {self._sums.images} images"
        return None
