"""Payments as people write of them: what is no plain payment is never told as one, what is plain is told."""

import pytest

from actors.systems.operations.recognition.statuses import states_in


def _states(text: str) -> set[str]:
    return {said.state for said in states_in(text)}


@pytest.mark.parametrize(
    "text",
    [
        # What denies it stands far before it, or in another clause.
        "Niemand in unserer Buchhaltung hat am Montag oder am Dienstag die Rechnung INV-7 bezahlt.",
        "Nobody in our accounting department has in the last two weeks of this month paid INV-7.",
        "Never in the last two years of this account with our bank was INV-7 paid.",
        "We confirm to nobody that INV-7 was paid.",
        "We have not yet confirmed that INV-7 was paid.",
        "Nicht wir haben INV-7 bezahlt.",
        "Nie jest tak, że INV-7 nie została opłacona.",
        "Nie możemy potwierdzić, że INV-7 została zapłacona.",
        "We'd have paid INV-7.",
        # It is yet to come, asked, or a condition.
        "INV-7 is paid on Friday.",
        "INV-7 is paid in three weeks.",
        "INV-7 is being paid.",
        "INV-7 ist am Freitag bezahlt.",
        "Wurde INV-7 bezahlt.",
        "Ist INV-7 bezahlt, liefern wir.",
        "Hallo Anna, ist INV-7 bezahlt.",
        "Was INV-7 paid.",
        "INV-7 by została zapłacona.",
        "Prosimy, aby INV-7 została opłacona.",
        "INV-7 paid (?)",
        "INV-7 was paid...",
        "INV-7 was paid - or was it.",
        # A part of it, or one of some.
        "INV-7 was 40% paid.",
        "INV-7: paid 0,00",
        "INV-7 paid 0.",
        "INV-7 paid 400 of 1,200 EUR",
        "1/3 of INV-7 was paid.",
        "½ of INV-7 was paid.",
        "The first item of INV-7 was paid.",
        "Der erste Posten aus INV-7 wurde bezahlt.",
        "Die Lieferung zu INV-7 wurde bezahlt.",
        "Much of INV-7 was paid.",
        "INV-7 has been paid in our books only.",
        "INV-7 has been paid from our side as far as the goods.",
        "INV-7 or INV-8 was paid.",
        "INV-7 oder INV-8 wurde bezahlt.",
        "INV-7 albo INV-8 została zapłacona.",
        # Somebody else's words.
        'I received the note "INV-7 was paid".',
        "~~INV-7 was paid~~",
        "Pan Kern napisał:\nINV-7 została zapłacona.",
        "Kern meldet:\n\nINV-6 wurde bezahlt.\nINV-7 wurde bezahlt.",
        "Question: INV-7 was paid.",
        "To do: INV-7 paid",
        "Kern about INV-7: paid in full.",
        "Der Kunde zu INV-7: ist bezahlt.",
        # Not the letters that they seem.
        "INV-7 was ΝΟΤ paid.",
        # Another thing came.
        "INV-7 was sent to you for payment on Monday.",
        "We received the invoice INV-7 for payment.",
        "The payment terms for INV-7 were sent.",
        "We sent you a payment reminder for INV-7.",
        "Show the payment for INV-7.",
        "Confirm receipt of payment for INV-7.",
        "Receipt of payment for INV-7 is pending.",
        "Wir haben INV-7 zur Zahlung erhalten.",
        "Ihre Mahnung zur Zahlung INV-7 ist eingegangen.",
        "Bestätigen Sie den Eingang der Zahlung für INV-7.",
        "Den Eingang der Zahlung zu INV-7 erwarten wir.",
        "Der Eingang der Zahlung für INV-7 fehlt.",
        "Wir haben die Rechnung INV-7 über den Betrag von 400 EUR erhalten.",
        "The amount of INV-7 was booked.",
        "Faktura INV-7 do zapłaty wpłynęła do nas wczoraj.",
        "Faktura INV-7 wpłynęła do nas wczoraj, przelew w piątek.",
        "Otrzymaliśmy fakturę INV-7 i płatność w terminie.",
        "Potwierdzamy termin płatności INV-7.",
        "Die Zahlung zu INV-7 wird heute eingegangen sein.",
        # A word that changes nothing in another language.
        "We received payment for every invoice bar INV-7.",
        # A lead that asks.
        "Bitte bestätigen Sie, dass INV-7 bezahlt wurde.",
        "Please note that INV-7 must be paid.",
        "Wir teilen Ihnen mit, dass INV-7 zu bezahlen ist.",
    ],
)
def test_what_is_no_plain_payment_says_nothing(text: str) -> None:
    assert _states(text).isdisjoint({"paid", "partly"})


@pytest.mark.parametrize(
    "text",
    [
        "Nie jest tak, że INV-7 nie została opłacona.",
        "Nie możemy potwierdzić, że INV-7 została zapłacona.",
        "We cannot confirm that INV-7 was paid.",
        "Nicht wir haben INV-7 bezahlt.",
        "The dispute about INV-7 was settled.",
        "We disputed INV-7 and have paid it.",
        "Last week we wired the outstanding 1,200.00 EUR for INV-7.",
    ],
)
def test_what_denies_another_thing_does_not_say_that_it_is_open(text: str) -> None:
    assert _states(text) == set()


@pytest.mark.parametrize(
    "text",
    [
        "Please note that INV-7 was settled on 3 May by bank transfer.",
        "This is to confirm that INV-7 has been paid.",
        "We can confirm that the money for INV-7 has arrived.",
        "INV-7 has been paid since Monday.",
        "INV-7 was paid 2 days ago.",
        "INV-7 was paid 100 %.",
        "Regarding INV-7: it was paid on 3 May.",
        "Dear Ms Weber, invoice INV-7 was paid on 3 May.",
        "They confirm receipt of our payment for INV-7.",
        "Der Betrag zu INV-7 wurde am 3. Mai überwiesen.",
        "Hiermit bestätigen wir den Zahlungseingang zu INV-7.",
        "Wie besprochen haben wir INV-7 gestern beglichen.",
        "INV-7 wurde fristgerecht gezahlt.",
        "Zu INV-7 ist der volle Betrag eingegangen.",
        "Bitte beachten Sie, dass INV-7 bereits bezahlt ist.",
        "INV-7 wurde in voller Höhe bezahlt.",
        "Wir teilen Ihnen mit, dass wir die Rechnung INV-7 am 3. Mai beglichen haben.",
        "Zu INV-7: Die Rechnung ist bezahlt.",
        "Die ausstehende Rechnung INV-7 wurde am 3. Mai bezahlt.",
        "Hallo Frau Weber, die Zahlung zu INV-7 ist heute eingegangen.",
        "INV-7 ist am 3. Mai bezahlt worden.",
        "Die Zahlung zu Rechnung INV-7 ist gestern auf unserem Konto eingegangen.",
        "Wpłata do faktury INV-7 została zaksięgowana 3 maja.",
        "Kwota z INV-7 wpłynęła na nasze konto 3 maja.",
        "Szanowna Pani, faktura INV-7 została opłacona wczoraj.",
        "Zaległa faktura INV-7 została zapłacona 3 maja.",
        "Całość kwoty z INV-7 zapłaciliśmy wczoraj.",
    ],
)
def test_a_plain_payment_is_told(text: str) -> None:
    assert _states(text) == {"paid"}


@pytest.mark.parametrize(
    "text", ["Der Betrag zu INV-7 ist nie eingegangen.", "Płatność za INV-7 nigdy nie wpłynęła."]
)
def test_what_never_came_is_open(text: str) -> None:
    assert _states(text) == {"open"}
