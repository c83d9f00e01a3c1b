"""A job that does nothing, created by boto3 and waited for by its waiter, against `smlocal run` of the same."""

import time

from endpoint_server import request, smlocal_server
from measure import alternate
from results import Figure, Size, comparison, main
from workplace import NO_OP, image, workplace

BOUND = 1.3


def measure(size: Size) -> list[Figure]:
    tag = image(NO_OP)
    with workplace() as place, smlocal_server(place.environment) as server:
        client = server.client()
        waiter = client.get_waiter("training_job_completed_or_stopped")

        def created() -> float:
            name = place.new_name()
            began = time.perf_counter()
            client.create_training_job(**request(name, tag))
            waiter.wait(TrainingJobName=name)
            return time.perf_counter() - began

        ours, theirs = alternate(created, lambda: place.run(tag).seconds, rounds=size.rounds, name="no-op")
    return [comparison("no-op job by boto3's create and waiter ÷ `smlocal run`", ours, theirs, BOUND)]


if __name__ == "__main__":
    main(measure)
