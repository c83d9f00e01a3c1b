import pytest

import smlocal


@pytest.mark.parametrize("call", [smlocal.run, smlocal.plan])
def test_an_unknown_keyword_is_refused(call: object) -> None:
    assert callable(call)
    with pytest.raises(TypeError, match=r"no keyword 'imagee'; there are allow_cpu, .*, image, "):
        call(imagee="any")
