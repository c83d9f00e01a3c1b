import asyncio

from smlocal.endpoint.page.topic import Topic, Topics


class Counted(Topic):
    looking = 0

    async def look(self) -> None:
        self.looking += 1
        try:
            await asyncio.sleep(60)
        finally:
            self.looking -= 1


class Broken(Topic):
    async def look(self) -> None:
        raise RuntimeError("broken")


def test_a_topic_is_looked_at_once_and_only_while_somebody_reads() -> None:
    async def read() -> None:
        topics: Topics[Counted] = Topics(print)
        first, second = asyncio.Event(), asyncio.Event()
        with topics.reading("job", Counted, first) as one:
            with topics.reading("job", Counted, second) as other:
                await asyncio.sleep(0)
                assert one is other
                assert one.looking == 1
                one.announce()
                assert first.is_set()
                assert second.is_set()
            assert len(topics) == 1
        await asyncio.sleep(0)
        assert len(topics) == 0
        assert one.looking == 0

    asyncio.run(read())


def test_what_goes_wrong_is_told_and_ends_the_streams() -> None:
    async def read() -> None:
        said: list[str] = []
        topics: Topics[Broken] = Topics(said.append)
        news = asyncio.Event()
        with topics.reading("job", Broken, news) as topic:
            await asyncio.wait_for(news.wait(), 10)
            assert topic.over
        assert "RuntimeError: broken" in said[0]

    asyncio.run(read())
