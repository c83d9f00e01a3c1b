"""The page where calls are verified: only for those who have its link."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import ClientError
from tests.kit.answer_shapes import client_of

from smlocal.endpoint.page.addresses import login_link
from smlocal.endpoint.signature import Signatures

KEY = Signatures(access_key="AKIAPAGE", secret_key="the-secret-of-this-test")


def test_the_page_is_closed_without_its_link(make_endpoint: Callable[..., Any], page_client: Any) -> None:
    with make_endpoint(signatures=KEY) as endpoint:
        client = page_client(address=endpoint.address)
        link = login_link(endpoint.address, KEY)
        path = link.removeprefix(endpoint.address)
        for each in ("/", "/-/new", "/-/jobs.events", "/-/jobs/none", "/-/page.js", path[:-1], path + "0", "/-/login"):
            closed = client.get(each)
            assert closed.status == 403, each
            assert "Open it with the link" in closed.text
            assert "set-cookie" not in closed.headers
        assert client.get("/-/style.css").status == 200
        assert client.post("/-/new", {"token": "", "document": ""}).status == 403

        opened = client.get(path)
        assert (opened.status, opened.headers["location"]) == (303, "/")
        cookie = opened.headers["set-cookie"]
        assert "; HttpOnly" in cookie
        assert "; SameSite=strict" in cookie
        assert KEY.secret_key not in link

        browser = {"Cookie": cookie.partition(";")[0]}
        assert client.get("/", headers=browser).status == 200
        for wrong in (browser["Cookie"][:-1], "smlocal-page=\xe4", 'smlocal-page="', "a b c"):
            assert client.get("/", headers={"Cookie": wrong}).status == 403
        token = re.search(r'name="token" value="([^"]+)"', client.get("/-/new", headers=browser).text)
        assert token is not None
        assert client.post("/-/new", {"token": token[1], "document": ""}, headers=browser).status == 400
        assert client.post("/-/new", {"token": token[1], "document": ""}).status == 403

        with pytest.raises(ClientError, match="security token"):
            client_of(endpoint.address, "sagemaker").list_training_jobs()
    with make_endpoint() as endpoint:
        assert page_client(address=endpoint.address).get("/-/login").headers["location"] == "/"
