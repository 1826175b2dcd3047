"""What a text says of a payment, in three languages; and that what is unclear says nothing."""

import pytest

from actors.systems.operations.linking.link import link
from actors.systems.operations.recognition.statuses import state_of, states_in, unclear_in
from actors.systems.operations.results_builder import not_understood
from models.operations.evidence import Evidence
from models.operations.items import SourceItem


@pytest.mark.parametrize(
    ("state", "text"),
    [
        ("paid", "INV-2041 has been paid."),
        ("paid", "We paid INV-2041 last week."),
        ("paid", "Invoice 2041 has been settled"),
        ("paid", "Payment for INV-2041 was received on June 3."),
        ("paid", "We have received your payment, thank you."),
        (None, "Thank you for your payment."),
        ("open", "INV-2041 is not paid yet"),
        ("open", "INV-2041 has not been paid"),
        ("open", "It was never paid."),
        ("open", "The invoice is unpaid."),
        ("open", "We are still waiting for payment."),
        ("open", "still waiting for payment of INV-2041"),
        ("open", "still awaiting payment"),
        ("open", "We have not received the payment for INV-2041."),
        ("open", "No payment has been received."),
        ("open", "INV-2041 is overdue"),
        ("open", "The invoice is past due."),
        ("open", "INV-2041 remains outstanding."),
        ("open", "INV-2041 hasn't been paid."),
        ("open", "INV-2041 hasn’t been paid."),
        (None, "Has INV-2041 been paid?"),
        (None, "If INV-2041 is not paid by Friday we stop."),
        (None, "Please pay INV-2041."),
        (None, "INV-2041 will be paid on Friday."),
        (None, "INV-2041 must be paid by Friday."),
        (None, "I think it has been paid."),
        (None, "INV-2041 is not overdue."),
        ("paid", "INV-2041 is no longer outstanding."),
        (None, "Once paid, we will ship."),
        (None, "Can you confirm whether it was paid?"),
        (None, "Please confirm that INV-2041 has been paid."),
        (None, "to be paid"),
        ("paid", "Die Rechnung 2041 ist bezahlt."),
        ("paid", "Die Rechnung 2041 wurde am 3. Juni beglichen."),
        ("open", "Die Rechnung ist noch nicht bezahlt."),
        ("open", "Die Rechnung ist überfällig."),
        ("open", "Wir haben noch keine Zahlung erhalten."),
        ("paid", "Die Zahlung ist eingegangen."),
        ("open", "Rechnung 2041 ist noch offen."),
        (None, "Wurde die Rechnung bezahlt?"),
        (None, "Bitte bezahlen Sie die Rechnung."),
        (None, "Die Rechnung wird nächste Woche bezahlt."),
        ("open", "Wir warten noch auf Ihre Zahlung."),
        ("open", "Die Rechnung wurde nie bezahlt."),
        (None, "Falls die Rechnung nicht bezahlt wird, mahnen wir."),
        ("paid", "Die Rechnung ist nicht mehr offen."),
        ("paid", "Faktura 2041 została zapłacona."),
        ("paid", "Fakturę zapłacono 3 czerwca."),
        ("open", "Nie zapłacono faktury 2041."),
        ("open", "Faktury nigdy nie zapłacono."),
        ("open", "nie otrzymaliśmy płatności"),
        ("open", "Faktura jest niezapłacona."),
        ("open", "Wciąż czekamy na płatność."),
        (None, "Czy faktura została zapłacona?"),
        (None, "Prosimy o zapłatę faktury."),
        ("open", "Faktura jest przeterminowana."),
        ("paid", "Płatność została zaksięgowana."),
        ("open", "Faktura nie została jeszcze opłacona."),
        (None, "Jeśli faktura nie zostanie zapłacona, ..."),
        ("open", "Brak płatności za fakturę 2041."),
        ("open", "Your system shows INV-2041 as paid, but we have not received payment."),
        ("partly", "INV-2041 was partially paid."),
        (None, "The paid invoice is attached."),
        ("partly", "We have paid half of the invoice."),
        ("open", "The invoice remains unpaid despite reminders."),
        ("open", "Your account is overdue."),
        ("open", "payment is overdue"),
        ("open", "We have not yet settled invoice 2041."),
        (None, "Payment of INV-2041 failed."),
        ("paid", "INV-2041: paid"),
        ("paid", "Status: Paid"),
        ("paid", "Paid on 2026-06-01."),
        (None, "paid leave policy"),
        ("paid", "It has already been paid twice."),
        ("open", "nobody has paid INV-2041"),
        ("open", "We did not pay INV-2041."),
        (None, "INV-2041 cleared yesterday."),
        ("paid", "We've paid INV-2041."),
        ("paid", "I paid it."),
        ("paid", "The customer paid INV-2041."),
        ("open", "the payment never arrived"),
        ("open", "Payment not received."),
        ("paid", "Payment received."),
        ("paid", "payment sent on Monday"),
        (None, "Amount paid: 0.00"),
        (None, "unless it has been paid"),
    ],
)
def test_what_a_text_says(state: str | None, text: str) -> None:
    assert {said.state for said in states_in(text)} == ({state} if state else set())


@pytest.mark.parametrize(
    ("state", "text"),
    [
        ("open", "The vendor denies that INV-2041 has been paid."),
        ("open", "The vendor disputes that INV-2041 has been paid."),
        ("open", "The vendor contests that INV-2041 has been settled."),
        ("open", "INV-2041 is far from paid."),
        (None, "They doubt that INV-2041 was paid."),
        (None, "The vendor does not deny that INV-2041 has been paid."),
        (None, "The vendor rejects the statement that INV-2041 was paid."),
        (None, "INV-2041 is anything but paid."),
        (None, "INV-2041 is hardly paid."),
        (None, "None of these are unpaid: INV-2041, INV-2042."),
        (None, "Nobody can confirm that INV-2041 was paid."),
        (None, "There is no record that INV-2041 was paid."),
        (None, "The vendor claims: INV-2041 has been paid."),
        (None, "INV-2041 was paid, according to nobody."),
        ("open", "Der Lieferant bestreitet, dass INV-2041 bezahlt wurde."),
        ("open", "INV-2041 ist keineswegs bezahlt."),
        (None, "INV-2041 ist alles andere als bezahlt."),
        (None, "Wir haben keinen Beleg, dass INV-2041 bezahlt wurde."),
        (None, "Der Lieferant bezweifelt, dass INV-2041 bezahlt wurde."),
        (None, "Bezahlt wurde INV-2041 nicht."),
        ("open", "Dostawca zaprzecza, że INV-2041 została opłacona."),
        ("open", "Nieprawda, że INV-2041 jest zapłacona."),
        (None, "Dostawca wątpi, że INV-2041 została opłacona."),
        (None, "Nie mamy potwierdzenia, że INV-2041 została opłacona."),
        ("open", "The vendor says INV-2041 has not been paid."),
        ("open", "Faktura INV-2041 czeka na zapłatę."),
        ("open", "Nie wpłynęły środki za INV-2041."),
        ("paid", "Zaksięgowaliśmy wpłatę do INV-2041."),
        ("paid", "Przelew za INV-2041 wyszedł wczoraj."),
        ("open", "INV-2041 is 30 days past due."),
    ],
)
def test_a_denial_is_never_read_as_what_it_denies(state: str | None, text: str) -> None:
    assert {said.state for said in states_in(text)} == ({state} if state else set())


@pytest.mark.parametrize(
    ("text", "unclear"),
    [
        ("They doubt that INV-2041 was paid.", True),
        ("Your cheque for INV-2041 bounced.", True),
        ("Our ledger still shows INV-2041 as outstanding.", True),
        ("None of these are unpaid: INV-2041, INV-2042.", True),
        ("INV-2041 wurde wohl überwiesen.", True),
        ("Podobno zapłacono fakturę INV-2041.", True),
        ("According to Kern INV-2041 was paid.", True),
        ("INV-2041 must have been paid.", True),
        ("INV-2041 paid? No.", True),
        ("INV-2041 bounced cheque", True),
        ("Has INV-2041 been paid?", False),
        ("Please pay INV-2041 by Friday.", False),
        ("If INV-2041 is not paid by Friday we stop.", False),
        ("We met in the hall about INV-2041.", False),
    ],
)
def test_what_was_not_understood_is_told_apart_from_what_says_nothing(text: str, unclear: bool) -> None:
    assert bool(list(unclear_in(text))) is unclear


def test_what_was_not_understood_is_shown_with_its_place() -> None:
    bill = SourceItem(
        id="accounts_payable/1",
        agent="accounts_payable",
        server="bills",
        tool="list_bills",
        call=1,
        path="/1",
        data={"vendor": "Plover Ltd", "invoice_number": "PV-810", "status": "open"},
    )
    mail = SourceItem(
        id="gmail/2",
        agent="gmail",
        server="mail",
        tool="list_mails",
        call=1,
        path="/2",
        data={"body": "Hello. Your cheque for PV-810 bounced. Regards, Plover Ltd"},
    )
    linked = link([bill, mail])
    assert linked.unread == (Evidence(item="gmail/2", path="/body", words="Your cheque for PV-810 bounced"),)
    assert not_understood(linked) == (
        "not understood, so in no comparison: “Your cheque for PV-810 bounced” (gmail/2)",
    )
    many = linked.model_copy(update={"unread": linked.unread * 14})
    assert not_understood(many)[-1] == "2 more sentences on payments not understood, so in no comparison"


def test_two_clauses_say_two_things() -> None:
    text = "INV-2041 has been paid, but INV-2042 is still open and overdue."
    assert [(said.state, text[said.start : said.end]) for said in states_in(text)] == [
        ("paid", "has been paid"),
        ("open", "overdue"),
    ]


def test_lines_that_a_mail_answers_say_nothing() -> None:
    assert list(states_in("Thanks.\n> INV-2041 has not been paid.")) == []


@pytest.mark.parametrize(
    ("value", "of_payment", "state"),
    [
        ("Paid", False, "paid"),
        ("PAST_DUE", False, "open"),
        ("zapłacona", False, "paid"),
        ("überfällig", False, "open"),
        ("open", True, "open"),
        ("open", False, None),
        ("Closed Won", True, None),
        ("unread", True, None),
        ("partially paid", False, "partly"),
        ("storniert", False, "void"),
    ],
)
def test_values_of_fields(value: str, of_payment: bool, state: str | None) -> None:
    assert state_of(value, of_payment=of_payment) == state
