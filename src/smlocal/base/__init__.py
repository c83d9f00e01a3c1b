"""What every room may use: files, work done side by side. It imports nothing else of smlocal."""
