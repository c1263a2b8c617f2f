"""What holds for every test?"""

import structlog
from hypothesis import HealthCheck, settings

# How long an example takes is for scripts/bench to say: the machine may be busy.
settings.register_profile("local2", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("local2")

structlog.configure(processors=[structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)])
