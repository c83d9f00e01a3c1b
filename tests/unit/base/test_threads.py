from smlocal.base.threads import watched_thread


def test_whatever_ends_a_thread_is_told() -> None:
    told: list[tuple[str, BaseException]] = []
    for error in (KeyError("Id"), SystemExit(3)):

        def work(error: BaseException = error) -> None:
            raise error

        thread = watched_thread(work, name="worker", died=lambda name, error: told.append((name, error)))
        assert thread.daemon
        thread.start()
        thread.join(60)
        assert told.pop() == ("worker", error)


def test_an_end_that_is_expected_is_not_told() -> None:
    done: list[int] = []
    thread = watched_thread(lambda: done.append(1), name="worker", died=lambda *_: done.append(2))
    thread.start()
    thread.join(60)
    assert done == [1]
