"""The data converter of every client and worker: JSON by pydantic, with one cache of what it knows of types.

The SDK makes a payload converter for each workflow instance, and each would work out again how the messages of the
contract are read: a seventh of a busy worker's time (measured with `failing-1000`).
"""

from __future__ import annotations

from typing import Final

from temporalio.contrib.pydantic import PydanticJSONPlainPayloadConverter
from temporalio.converter import (
    CompositePayloadConverter,
    DataConverter,
    DefaultPayloadConverter,
    JSONPlainPayloadConverter,
)

_JSON: Final = PydanticJSONPlainPayloadConverter()


class PayloadConverter(CompositePayloadConverter):
    """The SDK's own converters, with the shared one for JSON."""

    def __init__(self) -> None:
        super().__init__(
            *(
                _JSON if isinstance(each, JSONPlainPayloadConverter) else each
                for each in DefaultPayloadConverter.default_encoding_payload_converters
            )
        )


DATA_CONVERTER: Final = DataConverter(payload_converter_class=PayloadConverter)
