"""A container's view, here and on the service, as one document.

`probe` runs in the container, imports nothing of smlocal, and prints its masked findings in lines that any log can
hold. `reading` reads the remains of a job, `document` joins them, and `differences` compares two documents by rules.
"""
