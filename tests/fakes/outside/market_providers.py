"""Providers of market data on loopback, each in its real format: Yahoo's chart API, FRED, ECB, US Treasury.

`with MarketServer() as server:` gives `url`, which goes into `outside.market_data.*.url` for all four: their
paths differ. They answer with round made-up values, refuse what the real ones refuse, and what a test
`script`s comes first. `asked` keeps the requests.
"""

from datetime import UTC, date, datetime, timedelta
from typing import Any, Self

from tests.fakes.model.scripted_http import Asked, Reply, ScriptedHttp, json_reply

KEY = "0123456789abcdef0123456789abcdef"
MATURITIES = ("1 Mo", "1.5 Month", "2 Mo", "3 Mo", "4 Mo", "6 Mo", "1 Yr", "2 Yr", "3 Yr", "5 Yr", "7 Yr")
MATURITIES += ("10 Yr", "20 Yr", "30 Yr")
RATES = {"USD": 1.1, "PLN": 4.4, "JPY": 160.0, "GBP": 0.8}
_SHARES = {"AAPL": ("Apple Inc.", "USD", "America/New_York"), "SAP.DE": ("SAP SE", "EUR", "Europe/Berlin")}
_SERIES = {"UNRATE": "Unemployment Rate", "CPIAUCSL": "Consumer Price Index for All Urban Consumers"}
_ECB = "KEY,FREQ,CURRENCY,CURRENCY_DENOM,EXR_TYPE,EXR_SUFFIX,TIME_PERIOD,OBS_VALUE"


def text_reply(text: str, status: int = 200, kind: str = "text/csv") -> Reply:
    """An answer in plain text."""
    return Reply(status, text.encode(), {"Content-Type": kind})


class MarketServer:
    """The server, in threads of its own. `newest` is the last day that anybody has values of."""

    def __init__(self, newest: date = date(2026, 9, 30)) -> None:
        self.newest = newest
        self._http = ScriptedHttp(self._answer)
        self.asked, self.script = self._http.asked, self._http.script

    def __enter__(self) -> Self:
        self.url = f"http://127.0.0.1:{self._http.start()}"
        return self

    def __exit__(self, *_: object) -> None:
        self._http.stop()

    def _answer(self, asked: Asked) -> Reply:
        for start, answer in (
            ("/v8/finance/chart/", self._yahoo),
            ("/fred/", self._fred),
            ("/service/data/EXR/", self._ecb),
            ("/resource-center/data-chart-center/interest-rates/daily-treasury-rates.csv/", self._treasury),
        ):
            if asked.path.startswith(start):
                return answer(asked, asked.path.removeprefix(start))
        return text_reply("Not Found", 404, "text/html")

    def _days(self, start: date, end: date) -> list[date]:
        end = min(end, self.newest)
        days = (start + timedelta(days=number) for number in range((end - start).days + 1))
        return [day for day in days if day.weekday() < 5]

    def _yahoo(self, asked: Asked, symbol: str) -> Reply:
        if "mozilla" not in asked.headers.get("user-agent", "").lower():
            return Reply(429, b"Too Many Requests\r\n")
        if symbol not in _SHARES:
            return json_reply(chart_error("Not Found", "No data found, symbol may be delisted"), 404)
        first, last = (datetime.fromtimestamp(int(asked.query[name]), UTC) for name in ("period1", "period2"))
        if last < datetime(1980, 12, 12, tzinfo=UTC):
            told = f"Data doesn't exist for startDate = {asked.query['period1']}"
            return json_reply(chart_error("Bad Request", told), 400)
        return json_reply(chart(symbol, self._days(first.date(), last.date() - timedelta(days=1))))

    def _fred(self, asked: Asked, verb: str) -> Reply:
        query = asked.query
        if query.get("api_key") != KEY:
            told = (
                "Bad Request.  The value for variable api_key is not registered.  "
                "Read https://fred.stlouisfed.org/docs/api/api_key.html for more information."
            )
            return json_reply({"error_code": 400, "error_message": told}, 400)
        if verb == "series/search":
            words = query["search_text"].lower().split()
            hits = [name for name, title in _SERIES.items() if any(word in title.lower() for word in words)]
            return json_reply({"count": len(hits), "seriess": [described(name) for name in hits]})
        series_id = query["series_id"]
        if series_id not in _SERIES:
            return json_reply(
                {"error_code": 400, "error_message": "Bad Request.  The series does not exist."}, 400
            )
        if verb == "series":
            return json_reply({"seriess": [described(series_id)]})
        first, last = (date.fromisoformat(query[name]) for name in ("observation_start", "observation_end"))
        months = [
            date(year, month, 1)
            for year in range(1948, self.newest.year + 1)
            for month in range(1, 13)
            if first <= date(year, month, 1) <= min(last, self.newest)
        ]
        observations = [
            {"realtime_start": "2026-09-30", "realtime_end": "2026-09-30", "date": str(day), "value": value}
            for day in months
            # October 2025 was never counted: FRED writes a full stop.
            for value in ["." if day == date(2025, 10, 1) else f"{day.month / 2 + 1}"]
        ]
        newest_first = query.get("sort_order") == "desc"
        kept = observations[:: -1 if newest_first else 1][: int(query["limit"])]
        about = {"units": query["units"], "count": len(observations), "offset": 0, "limit": query["limit"]}
        return json_reply({**about, "observations": kept})

    def _ecb(self, asked: Asked, key: str) -> Reply:
        codes = key.split(".")[1].split("+")
        first, last = (date.fromisoformat(asked.query[name]) for name in ("startPeriod", "endPeriod"))
        lines = [
            f"EXR.D.{code}.EUR.SP00.A,D,{code},EUR,SP00,A,{day},{RATES[code]}"
            for code in codes
            if code in RATES
            for day in self._days(first, last)
        ]
        if not lines:
            return text_reply("No results found.", 404, "text/plain")
        return text_reply("\r\n".join([_ECB, *lines, ""]))

    def _treasury(self, asked: Asked, path: str) -> Reply:
        year = int(path.removesuffix("/all"))
        days = self._days(date(year, 1, 1), date(year, 12, 31))
        # The Treasury began to publish 1.5 months in 2025: before, the column is not there.
        names = [name for name in MATURITIES if year >= 2025 or name != "1.5 Month"]
        head = ",".join(["Date", *(f'"{name}"' for name in names)])
        rows = [",".join([f"{day:%m/%d/%Y}", *(_yield(day, name) for name in names)]) for day in days[::-1]]
        return text_reply("\n".join([head, *rows]))


def _yield(day: date, name: str) -> str:
    if name == "1.5 Month" and day < date(2025, 2, 18):
        return ""
    return f"{3 + MATURITIES.index(name) / 10:.2f}"


def described(series_id: str) -> dict[str, Any]:
    """A series as FRED describes it."""
    return {
        "id": series_id,
        "realtime_start": "2026-09-30",
        "title": _SERIES[series_id],
        "observation_start": "1948-01-01",
        "frequency": "Monthly",
        "frequency_short": "M",
        "units": "Percent" if series_id == "UNRATE" else "Index 1982-1984=100",
        "popularity": 95,
    }


def chart_error(code: str, description: str) -> dict[str, Any]:
    """A refusal of Yahoo's."""
    return {"chart": {"result": None, "error": {"code": code, "description": description}}}


def chart(symbol: str, days: list[date]) -> dict[str, Any]:
    """Prices as Yahoo has them: 32-bit floats, opening at 13:30 UTC, a row of nulls on a holiday."""
    name, currency, zone = _SHARES[symbol]
    prices = [None if day == date(2026, 9, 7) else 200.10000610351562 for day in days]
    quote = {column: prices for column in ("open", "high", "low", "close")}
    quote["volume"] = [None if price is None else 1000 for price in prices]
    meta = {
        "currency": currency,
        "symbol": symbol,
        "instrumentType": "EQUITY",
        "gmtoffset": -14400,
        "exchangeTimezoneName": zone,
        "longName": name,
        "priceHint": 2,
        "dataGranularity": "1d",
        "validRanges": ["1d", "5d", "max"],
    }
    result: dict[str, Any] = {
        "meta": meta,
        "indicators": {"quote": [quote], "adjclose": [{"adjclose": prices}]},
    }
    if days:
        result["timestamp"] = [
            int(datetime(day.year, day.month, day.day, 13, 30, tzinfo=UTC).timestamp()) for day in days
        ]
    else:
        result["indicators"] = {"quote": [{}], "adjclose": [{}]}
    return {"chart": {"result": [result], "error": None}}
