"""Events as botocore reads them."""

import json
from binascii import crc32

from botocore.eventstream import EventStreamBuffer
from hypothesis import given
from hypothesis import strategies as st

from smlocal.endpoint.invocations.front import model_stream_error, payload_part


@given(st.lists(st.binary(max_size=5000), max_size=5), st.integers(1, 700))
def test_pieces_are_read_again_however_they_arrive(pieces: list[bytes], size: int) -> None:
    sent = b"".join(payload_part(each) for each in pieces)
    buffer = EventStreamBuffer()
    found = []
    for begin in range(0, len(sent), size):
        buffer.add_data(sent[begin : begin + size])
        found += [event.to_response_dict() for event in buffer]
    assert [each["body"] for each in found] == pieces
    for each in found:
        assert each["status_code"] == 200
        assert each["headers"][":event-type"] == "PayloadPart"


def test_an_answer_that_breaks_off_is_an_exception_of_the_model() -> None:
    buffer = EventStreamBuffer()
    buffer.add_data(model_stream_error("StreamBroken", "é"))
    (event,) = (each.to_response_dict() for each in buffer)
    assert event["status_code"] == 400
    assert event["headers"][":exception-type"] == "ModelStreamError"
    assert json.loads(event["body"]) == {"ErrorCode": "StreamBroken", "Message": "é"}


def test_the_checksums_are_those_of_the_whole_message() -> None:
    message = payload_part(b"x")
    assert int.from_bytes(message[8:12], "big") == crc32(message[:8])
    assert int.from_bytes(message[-4:], "big") == crc32(message[:-4])
