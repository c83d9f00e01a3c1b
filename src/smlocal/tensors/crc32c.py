"""CRC-32C, as records of TensorFlow have it."""


def _entry(number: int) -> int:
    for _ in range(8):
        number = number >> 1 ^ (0x82F63B78 if number & 1 else 0)
    return number


_TABLE = tuple(_entry(number) for number in range(256))


def masked_crc32c(data: bytes | memoryview) -> int:
    """The checksum, rotated by 15 bits and shifted by a constant, so that checksums of checksums are no trouble."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ _TABLE[(crc ^ byte) & 0xFF]
    crc ^= 0xFFFFFFFF
    return (crc >> 15 | crc << 17) + 0xA282EAD8 & 0xFFFFFFFF
