"""The pytest fixture `warpscope`."""
import pytest

from . import check


@pytest.fixture
def warpscope():
    """Checks a launch as warpscope.check() does. The test fails with the findings, if there are any."""
    def checked(*arguments, **options):
        result = check(*arguments, **options)
        if not result.ok:
            pytest.fail(str(result), pytrace=False)
        return result
    return checked
