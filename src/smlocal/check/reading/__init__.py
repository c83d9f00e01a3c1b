"""An image as a stream of the engine, read once: what rules asked for is kept, the rest is passed over."""
