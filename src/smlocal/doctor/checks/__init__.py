"""The questions, a file each: `check` looks, and a pure function beside it judges what was seen."""
