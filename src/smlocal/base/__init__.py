"""Modules for every room: files, work done side by side. It imports nothing else of smlocal."""
