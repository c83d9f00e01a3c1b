"""Jobs on tiny data, which a check runs to see what an image does."""
