"""Notes with which a text sets itself right or takes itself back, in many wordings; others' are none."""

import pytest

from actors.platform.extractive.quotable import quotable
from actors.platform.text.language import Language

# Of each language a sentence that the notes are about, and one that they are not about.
SAID: dict[Language, tuple[str, str]] = {
    "en": (
        "The works were sold for four million euros in May.",
        "The river is clean again in all of its parts.",
    ),
    "de": (
        "Das Werk wurde im Mai für vier Millionen Euro verkauft.",
        "Die Brücke ist seit Juni für alle Autos offen.",
    ),
    "pl": (
        "Zakład sprzedano w maju za cztery miliony euro.",
        "Most otwarto w czerwcu dla wszystkich samochodów.",
    ),
}  # fmt: skip
SET_RIGHT: list[tuple[Language, str]] = [
    (
        "en",
        "This article originally gave the price of the works as four million euros. It"
        " was four hundred thousand.",
    ),
    (
        "en",
        "We got the price of the works wrong: they were sold for four hundred thousand"
        " euros, not four million.",
    ),
    (
        "en",
        "Due to an editing error, the price of the works was given as four million"
        " euros. It is four hundred thousand.",
    ),
    ("en", "*Amended 3 May: the works were sold for four hundred thousand euros.*"),
    (
        "en",
        "---\n\n3 May 2026: The price of the works in this story has been changed from"
        " four million euros to four hundred thousand.",
    ),
    ("en", "[Ed. note: the works were sold for 400,000 euros, not for four million.]"),
    ("en", "Note: this story has been updated to reflect that the works were sold for 400,000 euros."),
    (
        "en",
        "A figure in the first paragraph of this piece was inaccurate. The works fetched"
        " four hundred thousand euros.",
    ),
    ("en", "Readers pointed out that the works did not go for four million euros. We apologise."),
    ("de", "Anm. d. Red.: Das Werk wurde für vierhunderttausend Euro verkauft."),
    ("de", "Wir hatten zunächst geschrieben, das Werk sei für vier Millionen Euro verkauft worden."),
    ("de", "Dieser Text wurde nachträglich geändert: Das Werk kostete vierhunderttausend Euro."),
    ("de", "Uns ist ein Fehler unterlaufen. Das Werk wurde nicht für vier Millionen Euro verkauft."),
    ("de", "Hinweis: Der Kaufpreis für das Werk wurde nach Veröffentlichung auf 400.000 Euro berichtigt."),
    (
        "de",
        "In diesem Artikel stand, das Werk habe vier Millionen Euro gekostet."
        " Tatsächlich waren es vierhunderttausend.",
    ),
    ("pl", "Od redakcji: zakład sprzedano za czterysta tysięcy euro."),
    (
        "pl",
        "W tekście znalazł się błąd. Zakład sprzedano za czterysta tysięcy euro, a nie za cztery miliony.",
    ),
    (
        "pl",
        "Po publikacji zmieniliśmy cenę, za jaką sprzedano zakład, z czterech milionów"
        " na czterysta tysięcy euro.",
    ),
    ("pl", "Pierwotnie podaliśmy, że zakład sprzedano za cztery miliony euro."),
    ("pl", "Redakcja przeprasza: zakład nie został sprzedany za cztery miliony euro."),
    ("pl", "Artykuł zaktualizowano 3 maja: zakład sprzedano za czterysta tysięcy euro."),
    ("en", "CORRECTION (12 May): The works fetched 400,000 euros, not four million."),
    ("en", "Because of a typo, this piece put the price of the works at four million euros."),
    ("en", "The price of the works in the original version of this story was wrong."),
    ("en", "A previous headline on this story said that the works were sold for four million euros."),
    ("en", "This story was corrected on 4 May to say that the works were sold for 400,000 euros."),
    ("en", "We misreported the price of the works, which was 400,000 euros."),
    ("en", "Editor's note: In an earlier draft we quoted a price of four million euros for the works."),
    ("en", "Clarification: the works were sold for four million zloty, not euros."),
    ("en", "An error in this article about the sale of the works has been fixed."),
    ("en", "For the record: the works were not sold for four million euros."),
    ("en", "Errata\n\nThe works were sold for 400,000 euros."),
    ("de", "Richtigstellung: Das Werk wurde für vierhunderttausend Euro verkauft."),
    ("de", "Update, 4. Mai: Das Werk wurde doch nicht für vier Millionen Euro verkauft."),
    ("de", "In der ersten Fassung dieses Artikels war der Preis für das Werk falsch angegeben."),
    ("de", "Wir bitten, den Fehler beim Preis des Werks zu entschuldigen."),
    ("de", "Leider haben wir den Preis des Werks falsch angegeben."),
    ("de", "Anders als zunächst berichtet, wurde das Werk für vierhunderttausend Euro verkauft."),
    ("de", "(Anm.: In der Urfassung war von vier Millionen Euro für das Werk die Rede.)"),
    ("pl", "Korekta z 4 maja: zakład sprzedano za czterysta tysięcy euro."),
    ("pl", "Wbrew temu, co wcześniej pisaliśmy, zakład sprzedano za czterysta tysięcy euro."),
    ("pl", "W pierwszej wersji tekstu podaliśmy złą cenę zakładu."),
    ("pl", "Przepraszamy, zakład nie kosztował czterech milionów euro."),
    ("pl", "Errata: zakład sprzedano za czterysta tysięcy euro."),
    ("pl", "Sprostowanie\n\nZakład sprzedano za czterysta tysięcy euro."),
    ("pl", "Poprawiliśmy kwotę, za którą sprzedano zakład."),
]
TAKEN_BACK: list[tuple[Language, str]] = [
    ("en", "This article has since been withdrawn."),
    ("en", "Withdrawn: this paper should not be cited."),
    ("en", "We have removed this story because it could not be verified."),
    ("en", "RETRACTED"),
    ("en", "The publisher has retracted this article at the request of the authors."),
    ("en", "This report is no longer considered reliable and we have withdrawn it."),
    ("de", "Dieser Artikel ist zurückgezogen."),
    ("de", "Wir haben diesen Beitrag zurückgezogen."),
    ("de", "Die Redaktion hat den Text zurückgezogen."),
    ("de", "Die Autoren haben diese Arbeit zurückgezogen."),
    ("pl", "Wycofano."),
    ("pl", "Ten artykuł wycofano na prośbę autorów."),
    ("pl", "Redakcja wycofała tę publikację."),
    ("pl", "Tekst wycofany przez redakcję."),
    ("en", "Editor's note: This article has been removed from our site pending review."),
    ("en", "The editors have withdrawn this essay."),
    ("en", "This post has been taken down."),
    ("en", "We no longer stand by this story."),
    ("en", "This paper has been retracted at the authors' request."),
    ("de", "Dieser Beitrag wurde von der Redaktion gelöscht."),
    ("de", "Zurückgezogen."),
    ("de", "Diese Studie wurde zurückgezogen."),
    ("pl", "Niniejszy artykuł został wycofany z publikacji."),
    ("pl", "Autorzy wycofali tę pracę."),
    ("pl", "Ten tekst usunęliśmy, bo nie mogliśmy potwierdzić jego treści."),
]
OTHERS: list[tuple[Language, str]] = [
    ("en", "The Daily Post corrected its report on the fire and apologised to the owner of the works."),
    ("en", "The journal retracted a paper on the sale of works by a rival laboratory."),
    ("en", "The ministry amended its forecast for the price of steel works in May."),
    ("en", "The bank withdrew its offer for the works in May."),
    ("en", "The company updated its figures on the works and said an earlier report was wrong."),
    ("en", "A correction in share prices followed the sale of the works in May."),
    ("de", "Die Zeitung korrigierte ihren Bericht über den Verkauf des Werks."),
    ("de", "Das Fachblatt zog eine Studie über das Werk zurück."),
    ("de", "Der Konzern hat sein Angebot für das Werk im Mai zurückgezogen."),
    ("de", "Die Bank hat ihre Prognose für das Werk nach oben korrigiert."),
    ("pl", "Gazeta sprostowała swój artykuł o sprzedaży zakładu."),
    ("pl", "Bank wycofał ofertę na zakład w maju."),
    ("pl", "Spółka skorygowała prognozę dla zakładu na maj."),
    ("pl", "Pismo wycofało artykuł konkurencji o zakładach."),
    ("en", "In April the journal said the article had been withdrawn by its authors."),
    ("en", "The study was retracted in 2019 after a complaint about the works."),
    ("en", "This report shows that the bank withdrew its offer for the works."),
    ("en", "In this article we look at why the works were closed and the staff withdrawn."),
    ("en", "The editors of the Daily Post withdrew a story about the works."),
    ("en", "Our competitor withdrew the study of the works in May."),
    ("en", "An appeal court corrected the judgment on the works in May."),
    ("en", "The ministry apologised to the owners of the works."),
    ("en", "The company published a correction to its report on the works."),
    ("en", "“We apologise for the price of the works,” said the mayor on Monday."),
    ("en", "The auditors found an error in the books of the works."),
    ("en", "This study was retracted after rivals of the works complained, and the journal paid."),
    ("de", "Die Studie wurde 2019 nach einer Beschwerde des Werks zurückgezogen."),
    ("de", "Der Minister entschuldigte sich bei den Besitzern des Werks."),
    ("de", "Der Prüfer fand einen Fehler in den Büchern des Werks."),
    ("de", "Das Ministerium korrigierte im Mai seine Zahlen zum Werk."),
    ("de", "„Wir haben einen Fehler gemacht“, sagte der Chef des Werks am Montag."),
    ("pl", "Badanie wycofano w 2019 roku po skardze zakładu."),
    ("pl", "Minister przeprosił właścicieli zakładu."),
    ("pl", "Kontrolerzy znaleźli błąd w księgach zakładu."),
    ("pl", "Tygodnik wycofał artykuł o zakładzie i przeprosił."),
    ("pl", "Rząd zmienił w maju przepisy o sprzedaży zakładów."),
]
AROUND: list[tuple[Language, str]] = [
    ("en", "This page was last updated on 3 May 2026."),
    ("en", "This article was amended on 3 May 2026."),
    ("de", "Dieser Artikel wurde am 3. Mai 2026 korrigiert."),
    ("pl", "Ten artykuł poprawiono 3 maja 2026."),
    ("en", "Report an error in this article."),
    ("en", "Found a mistake in this article? Let us know."),
    ("en", "If you see an error in this story, please contact us."),
    ("en", "This article originally appeared in the Herald."),
    ("en", "Update: the mayor will speak on Friday."),
    ("de", "Diese Seite wurde zuletzt am 3. Mai 2026 aktualisiert."),
    ("de", "Haben Sie einen Fehler in diesem Artikel gefunden?"),
    ("de", "Dieser Artikel ist zuerst im Mai im Herald erschienen."),
    ("pl", "Zgłoś błąd w tekście."),
    ("pl", "Znalazłeś błąd w artykule? Napisz do nas."),
    ("pl", "Ostatnia aktualizacja: 3 maja 2026."),
]
# On the same subject as what stands around texts.
NEAR: dict[Language, tuple[str, str]] = {
    "en": (
        "The works were sold in May for a report on pages.",
        "The last articles on the mistake were found.",
    ),
    "de": (
        "Das Werk wurde im Mai mit Fehlern verkauft.",
        "Der Artikel über den Mai stand zuletzt auf der Seite.",
    ),
    "pl": (
        "Zakład sprzedano w maju z błędem w umowie.",
        "Tekst o zakładzie był ostatnio na stronie miasta.",
    ),
}  # fmt: skip


def _holds(text: str, sentence: str, language: Language) -> bool:
    return any(sentence in one.text for one in quotable(text, language))


@pytest.mark.parametrize(("language", "note"), SET_RIGHT)
def test_what_a_text_sets_right_is_not_offered(language: Language, note: str) -> None:
    wrong, other = SAID[language]
    for text in (f"{wrong}\n\n{other}\n\n{note}", f"{note}\n\n{other} {wrong}"):
        assert not _holds(text, wrong, language)
        assert _holds(text, other, language)


@pytest.mark.parametrize(("language", "note"), TAKEN_BACK)
def test_of_what_is_taken_back_nothing_is_offered(language: Language, note: str) -> None:
    both = " ".join(SAID[language])
    assert quotable(f"{both}\n\n{note}", language) == []
    assert quotable(f"{note}\n\n{both}", language) == []


@pytest.mark.parametrize(("language", "report"), OTHERS)
def test_a_report_on_others_corrections_costs_nothing(language: Language, report: str) -> None:
    said, other = SAID[language]
    for text in (f"{said}\n\n{other}\n\n{report}", f"{said} {report} {other}"):
        assert _holds(text, said, language)
        assert _holds(text, other, language)


@pytest.mark.parametrize(("language", "line"), AROUND)
def test_what_stands_around_texts_corrects_nothing(language: Language, line: str) -> None:
    one, other = NEAR[language]
    text = f"{one}\n\n{other}\n\n{line}"
    assert _holds(text, one, language)
    assert _holds(text, other, language)


def test_each_of_several_corrections_counts() -> None:
    notes = (
        "Correction: the works were sold for 400,000 euros in May.\n\n"
        "This story got the name of the river wrong."
    )
    wrong, other = SAID["en"]
    assert quotable(f"{wrong}\n\n{other}\n\n{notes}", "en") == []


@pytest.mark.parametrize(
    ("language", "sentence"),
    [
        ("en", "This study was retracted."),
        ("de", "Diese Studie wurde zurückgezogen."),
        ("pl", "Ta praca została wycofana."),
    ],
)
def test_amid_a_text_a_study_is_one_that_it_is_about(language: Language, sentence: str) -> None:
    said, other = SAID[language]
    text = f"{said}\n\n{sentence}\n\n{other}"
    assert _holds(text, said, language)
    assert _holds(text, other, language)
