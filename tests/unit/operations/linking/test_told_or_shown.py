"""What is said of a payment is told rightly, or shown as not understood: never told as something else."""

from typing import Any

import pytest

from actors.systems.operations.linking.link import link
from actors.systems.operations.recognition.statuses import states_in
from models.operations.items import SourceAgent, SourceItem

_BILL = SourceItem(
    id="accounts_payable/1",
    agent="accounts_payable",
    server="bills",
    tool="list_bills",
    call=1,
    path="/1",
    data={"vendor": "Kern GmbH", "invoice_number": "KR-77"},
)


def told_and_shown(status: str, agent: SourceAgent, /, **data: Any) -> tuple[list[str], list[str]]:
    """The kinds of conflict with a bill KR-77 of that status, and the sentences shown as not understood."""
    bill = _BILL.model_copy(update={"data": {**_BILL.data, "status": status}})
    other = _BILL.model_copy(update={"id": f"{agent}/2", "agent": agent, "tool": "list", "data": data})
    linked = link([bill, other])
    return [one.kind for one in linked.conflicts], [one.words for one in linked.unread]


def _mail(status: str, text: str, subject: str = "Your mail") -> tuple[list[str], list[str]]:
    return told_and_shown(status, "gmail", subject=subject, body=f"{text}\nKern GmbH")


def _without_mark(text: str) -> str:
    return text.removesuffix(".")


@pytest.mark.parametrize(
    "text",
    [
        "KR-76 was paid, KR-77 was not.",
        "KR-76 was paid whereas KR-77 was not.",
        "KR-76 has been paid, but KR-77 hasn't.",
        "KR-6 was paid, KR-77 was not.",
        "2026-0076 was paid, KR-77 was not.",
        "The first one was paid, KR-77 was not.",
        "KR-77 not yet, but KR-76 was paid.",
        "We paid KR-76 rather than KR-77.",
        "Unlike KR-77, KR-76 has been paid.",
        "Zahlung für KR-76 ist eingegangen, für KR-77 nicht.",
        "KR-76 wurde bezahlt, KR-77 aber nicht.",
        "KR-76 została zapłacona, ale KR-77 nie.",
        "Wpłynęła płatność za KR-76, za KR-77 nie.",
        "All but KR-77 have been paid.",
        "Everything was paid except KR-77.",
        "Alles außer KR-77 wurde bezahlt.",
        # What is taken back behind it.
        "KR-77 paid 3 May, returned 5 May.",
        "KR-77 WAS PAID THEN PULLED BY BANK",
        "KR-77 Was Paid, Then Pulled By The Bank.",
        "Zahlung KR-77 eingegangen, Rücklastschrift im Mai.",
        "KR-77 was paid, then returned.",
        "KR-77 was paid, then taken back by the bank.",
        "KR-77 was paid but charged back.",
        "KR-77 was paid and bounced.",
        "KR-77 was paid on 3 May, the bank debited it again on 9 May.",
        "KR-77 wurde bezahlt, dann zurückgebucht.",
        "KR-77 wurde bezahlt, aber die Lastschrift ist geplatzt.",
        "Die Zahlung für KR-77 ist eingegangen und ging an die Bank zurück.",
        "KR-77 została zapłacona, a potem zwrócona.",
        "Wpłata za KR-77 wpłynęła, lecz ją wycofano.",
        # Hearsay.
        "Kern says KR-77 was paid.",
        "KR-77 was paid, Kern says.",
        "Kern: KR-77 has been paid.",
        "Reportedly KR-77 has been paid.",
        "I heard KR-77 was paid.",
        "Kern told me, and he would know, that KR-77 has been paid.",
        "KR-77 has been paid, or so they say.",
        "According to Kern KR-77 was paid.",
        "KR-77 wurde angeblich bezahlt.",
        "Dem Vernehmen nach wurde KR-77 bezahlt.",
        "Kern sagt, KR-77 wurde bezahlt.",
        "KR-77 soll bezahlt worden sein.",
        "Podobno KR-77 została zapłacona.",
        "Kern mówi, że KR-77 została zapłacona.",
        "Vendor: KR-77 has been paid.",
        "As far as I know KR-77 was paid.",
        "Herr Kern schreibt, KR-77 wurde bezahlt.",
        "Im Gespräch hieß es, KR-77 wurde bezahlt.",
        "Lt. Kern wurde KR-77 bezahlt.",
        "Słyszałem, że KR-77 została zapłacona.",
        "KR-77 rzekomo opłacona.",
        # Labels whose answer is neither.
        "KR-77 paid: 0.00 EUR",
        "KR-77 paid: pending",
        "KR-77 paid: yes/no",
        "KR-77 paid (no)",
        "KR-77 paid ✗",
        "KR-77 Zahlungseingang: nein",
        "KR-77 bezahlt: nicht bekannt",
        "KR-77 zapłacono: nie wiadomo",
        "KR-77 paid? No",
    ],
)
def test_what_may_be_otherwise_is_not_told_but_shown(text: str) -> None:
    for status in ("open", "paid"):
        assert _mail(status, text) == ([], [_without_mark(text)])


@pytest.mark.parametrize(
    "text",
    [
        "KR-77 was paid. The payment bounced two days later.",
        "KR-77 was paid. The bank took it back on Monday.",
        "KR-77 was paid by cheque. The cheque did not clear.",
        "KR-77 wurde bezahlt. Die Zahlung ging zurück.",
        "KR-77 została zapłacona. Bank cofnął przelew.",
    ],
)
def test_what_the_next_sentence_takes_back_is_shown_with_it(text: str) -> None:
    assert _mail("open", text) == ([], _without_mark(text).split(". "))


@pytest.mark.parametrize(
    "behind",
    [
        "Two days later it was gone again.",
        "Two days later we had it in our account again.",
        "Scrap that.",
        "Sorry, I meant KR-79.",
        "It did not stick.",
        "Or so we thought.",
        "In theory.",
        "Zwei Tage später war das Geld wieder weg.",
        "Das stimmt so aber nicht.",
        "Po dwóch dniach zniknęła z konta.",
        "To jednak pomyłka.",
        "The delivery note is attached because of it.",
        "Many thanks for nothing.",
        "We had to send it back.",
    ],
)
def test_a_sentence_behind_that_is_not_understood_leaves_a_payment_untold_and_is_shown(behind: str) -> None:
    assert _mail("open", f"KR-77 was paid. {behind}") == ([], ["KR-77 was paid", _without_mark(behind)])


@pytest.mark.parametrize(
    "text",
    [
        "KR-77 was paid. The delivery note is attached.",
        "KR-77 was paid. Our new office opens in June.",
        "KR-77 was paid. We look forward to working with you again.",
        "KR-77 was paid. Thank you for your patience.",
        "KR-77 was paid. Best regards,\nAnna Lind",
        "KR-77 was paid. KR-78 is overdue.",
        "KR-77 wurde am 5. Mai bezahlt. Mit freundlichen Grüßen\nKern",
        "KR-77 ist bezahlt. Unser Büro ist im August geschlossen.",
        "KR-77 została zapłacona. W załączeniu przesyłamy katalog.",
    ],
)
def test_a_courtesy_a_signature_a_state_or_another_matter_behind_takes_back_nothing(text: str) -> None:
    assert _mail("open", text)[0] == ["status"]


@pytest.mark.parametrize(
    "text",
    [
        "Word is KR-77 was paid.",
        "Gossip has KR-77 paid.",
        "Imagine KR-77 was paid.",
        "Meines Wissens wurde KR-77 bezahlt.",
        "Meines Wissens hat die Firma KR-77 bezahlt.",
        "KR-77 wurde nur zum Schein bezahlt.",
        "Zum Schein wurde KR-77 am 5. Mai bezahlt.",
        "Legend has it KR-77 was paid.",
        "We have that KR-77 was paid.",
        "It looks as if KR-77 was paid.",
        "KR-77 wurde bis auf 200 EUR bezahlt.",
        "KR-77 zapłacono poza kwotą 200 zł.",
        "KR-77 was paid, KR-79 sorry.",
    ],
)
def test_a_capital_a_second_verb_and_an_exception_leave_a_payment_untold(text: str) -> None:
    assert _mail("open", text) == ([], [_without_mark(text)])


@pytest.mark.parametrize(
    "text",
    ["KR-77 was paid by Kern GmbH on 5 May.", "Mr Lind has paid KR-77.", "KR-77 wurde von Lind bezahlt."],
)
def test_who_paid_is_named_with_a_form_a_title_or_by(text: str) -> None:
    assert _mail("open", text) == (["status"], [])


def test_hearsay_in_the_sentence_before_leaves_a_payment_untold() -> None:
    assert _mail("open", "Somebody wrote this. KR-77 was paid.") == ([], ["KR-77 was paid"])


def test_a_question_that_is_doubted_is_shown_with_the_doubt() -> None:
    assert _mail("open", "KR-77 was paid? I doubt it.") == ([], ["KR-77 was paid? I doubt it"])


def test_of_a_payment_and_what_contradicts_it_without_a_number_neither_is_told() -> None:
    for status in ("open", "paid"):
        assert _mail(status, "KR-77 was paid. It is still unpaid.") == (
            [],
            ["KR-77 was paid", "It is still unpaid"],
        )


@pytest.mark.parametrize(
    ("subject", "text"),
    [
        ("KR-77", "KR-76 was paid."),
        ("KR-77", "KR-76 is done and filed. It was paid on Friday."),
        ("KR-77", "Kern says it was paid."),
        ("KR-77", "Your cheque bounced."),
        ("KR-76", "It was paid."),
        ("Your mail", "KR-76 was paid."),
        ("Your mail", "Your cheque bounced."),
    ],
)
def test_what_goes_on_about_a_number_in_no_record_is_said_of_no_other(subject: str, text: str) -> None:
    told, shown = _mail("open", text, subject)
    assert told == []
    assert shown == [_without_mark(text).rsplit(". ", maxsplit=1)[-1]]


@pytest.mark.parametrize(
    "text",
    ["KR-76 is on hold.", "KR-76 must not be paid, KR-77 is fine.", "Please stop the payment of KR-76."],
)
def test_a_hold_of_a_number_in_no_record_is_that_of_no_other(text: str) -> None:
    assert _mail("approved", text, "KR-77")[0] == []


@pytest.mark.parametrize(
    "text",
    [
        "KR-76 comes to $500.00, KR-77 is attached.",
        "KR-76 is due on 2026-05-09, KR-77 is attached.",
        "KR-76 is due on 2026-05-09.",
    ],
)
def test_sums_and_days_of_a_number_in_no_record_are_those_of_no_other(text: str) -> None:
    bill = _BILL.model_copy(
        update={"data": {**_BILL.data, "amount": 90, "currency": "USD", "due_date": "2026-04-01"}}
    )
    mail = _BILL.model_copy(
        update={"id": "gmail/2", "agent": "gmail", "data": {"subject": "KR-77", "body": f"{text}\nKern GmbH"}}
    )
    assert link([bill, mail]).conflicts == ()


@pytest.mark.parametrize(
    ("status", "text"),
    [
        ("paid", "KR-77 paid: no"),
        ("paid", "KR-77: paid: no"),
        ("paid", "Paid: no (KR-77)"),
        ("paid", "KR-77 paid = no"),
        ("paid", "KR-77 paid: not yet"),
        ("paid", "KR-77, bezahlt: nein"),
        ("paid", "KR-77 beglichen: noch nicht"),
        ("paid", "KR-77 zapłacono: nie"),
        ("paid", "KR-77 opłacona: jeszcze nie"),
        ("open", "KR-77 paid: yes"),
        ("open", "Bezahlt: KR-77"),
        ("open", "KR-77 was paid, thank you."),
        ("open", "KR-77 WAS PAID"),
        ("open", "Kern has paid KR-77."),
        ("open", "KR-77 has been paid on 3 May 2026 with reference TX-99812."),
        ("open", "Our customer number is 10234. KR-77 was paid in full."),
        ("open", "Wir haben KR-77 letzte Woche überwiesen, vielen Dank."),
        ("paid", "Kern says KR-77 was not paid."),
    ],
)
def test_what_is_clear_is_told_and_not_shown(status: str, text: str) -> None:
    assert _mail(status, text) == (["status"], [])


def test_the_words_of_an_answer_are_shown_with_it() -> None:
    assert [said.state for said in states_in("Paid: no (KR-77)")] == ["open"]
    assert ["Paid: no (KR-77)"[said.start : said.end] for said in states_in("Paid: no (KR-77)")] == [
        "Paid: no"
    ]


def test_of_two_clauses_the_one_that_was_read_is_told_and_the_sentence_shown() -> None:
    text = "KR-77 was paid, KR-78 was not"
    assert _mail("open", text) == (["status"], [text])


def test_two_sentences_that_contradict_each_other_are_both_shown() -> None:
    assert _mail("open", "KR-77 was paid. KR-77 remains outstanding.") == (
        [],
        ["KR-77 was paid", "KR-77 remains outstanding"],
    )


def test_what_was_before_is_understood_and_not_shown() -> None:
    notes = [
        {"date": "2026-03-01", "text": "KR-77 was not paid."},
        {"date": "2026-03-09", "text": "KR-77 was paid."},
    ]
    assert told_and_shown("open", "crm", account="Kern GmbH", notes=notes) == (["status"], [])


@pytest.mark.parametrize(
    ("name", "value", "state"),
    [
        ("paid", "no", "open"),
        ("paid", "not yet", "open"),
        ("bezahlt", "Nein", "open"),
        ("zapłacono", "nie", "open"),
        ("is_paid", "false", "open"),
        ("settled", "N", "open"),
        ("note", "paid: no", "open"),
        ("uwagi", "Zapłacono: nie", "open"),
        ("paid", "yes", "paid"),
        ("bezahlt", "ja", "paid"),
        ("opłacona", "tak", "paid"),
    ],
)
def test_a_field_says_by_its_answer_whether_it_is_paid(name: str, value: str, state: str) -> None:
    data = {"account": "Kern GmbH", "invoice": "KR-77", name: value}
    for status in ("open", "paid"):
        assert told_and_shown(status, "crm", **data) == (["status"] if status != state else [], [])


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("paid", "maybe"),
        ("paid", "yes/no"),
        ("paid", "yes, then returned"),
        ("bezahlt", "nicht bekannt"),
        ("status", "paid, then returned"),
        ("payment_status", "bounced"),
    ],
)
def test_a_field_that_was_not_understood_is_shown(name: str, value: str) -> None:
    data = {"account": "Kern GmbH", "invoice": "KR-77", name: value}
    for status in ("open", "paid"):
        assert told_and_shown(status, "crm", **data) == ([], [value])
