"""One file per check: `check` looks at the machine, and `judge`, which is pure, decides what that means."""
