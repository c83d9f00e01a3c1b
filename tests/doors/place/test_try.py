import sys
def show(place, *c, **k):
    import time
    b=time.time()
    d=place.run(*c, **k); print("$", *c, "->", d.returncode, f"{time.time()-b:.1f}s"); print(d.stdout); print(d.stderr)
    return d
def test_try(place, image):
    show(place,"smlocal","doctor")
    show(place,"smlocal","doctor","--report")
    show(place,"smlocal","check",image("py"),"--static")
    show(place,"smlocal","check",image("py"),"--static")
    show(place,"smlocal","demo","--base",image("sh"))
    print("\n".join(map(str,place.engine.refused)))
    assert 0
