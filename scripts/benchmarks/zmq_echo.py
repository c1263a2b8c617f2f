"""The other end of a bare round trip: sends back what it is sent, with nothing of ours in between.

python zmq_echo.py PUBLISH_TO SUBSCRIBE_TO
"""

from __future__ import annotations

import sys

import zmq

context = zmq.Context()
publish, subscribe = context.socket(zmq.PUB), context.socket(zmq.SUB)
publish.connect(sys.argv[1])
subscribe.connect(sys.argv[2])
subscribe.setsockopt(zmq.SUBSCRIBE, b"bench.ping")
while True:
    _, body = subscribe.recv_multipart()
    publish.send_multipart([b"bench.pong", body])
