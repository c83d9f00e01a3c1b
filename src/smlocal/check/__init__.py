"""What is wrong with a training image: rules, what they look at, and what they find."""
