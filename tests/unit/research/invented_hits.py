"""Hits as search engines give them, invented: three questions, in English, Polish and German."""

from models.content.outside import SearchHit

EN_QUESTION = "Please do deep research on how the ECB rate decision of June 2026 affects mortgage costs"
PL_QUESTION = "Zrób deep research o wpływie stóp procentowych NBP na ceny mieszkań w Warszawie"
DE_QUESTION = "Recherchiere bitte zu Wärmepumpen im Altbau und ihren Stromkosten"


def hit(url: str | None, title: str, snippet: str, published_at: str | None = None, **more: str) -> SearchHit:
    """A hit of `searxng`, unless `source` says otherwise."""
    return SearchHit(
        title=title, url=url, snippet=snippet, published_at=published_at, **{"source": "searxng", **more}
    )


# The first eight bear on the question, best first by eye; the others less and less.
ENGLISH = (
    hit(
        "https://www.ecb.europa.eu/press/pr/date/2026/html/ecb.mp260611.en.html",
        "Monetary policy decisions, 11 June 2026",
        "The ECB decided in June 2026 to lower the deposit facility rate by 25 basis points.",
        "2026-06-11",
    ),
    hit(
        "https://www.reuters.com/markets/ecb-rate-decision-mortgage-costs-2026-06-12/",
        "What the ECB rate decision means for mortgage costs | Reuters",
        "Mortgage costs are set to ease after the ECB rate decision of June 2026, lenders say.",
        "2026-06-12T08:30:00Z",
    ),
    hit(
        "https://www.ft.com/content/ecb-cut-mortgage-borrowers",
        "Mortgage borrowers wait for relief after ECB cut",
        "Banks pass on the central bank's decision slowly: fixed mortgage rates barely moved in June.",
        "Fri, 12 Jun 2026 06:00:00 GMT",
    ),
    hit(
        "https://www.bruegel.org/analysis/monetary-transmission-mortgages",
        "How fast do ECB rates reach mortgages?",
        "Variable-rate mortgages reprice within three months of an ECB decision, fixed ones after years.",
        "2026-05-02",
    ),
    hit(
        "https://www.irishtimes.com/business/ecb-cut-tracker-mortgages-2026/",
        "ECB rate cut: what it means for tracker mortgages",
        "A typical tracker mortgage customer will pay 45 euro less a month after the June decision.",
        "2026-06-11",
    ),
    hit(
        "https://www.bankofengland.co.uk/statistics/mortgage-rates-june-2026",
        "Effective mortgage rates, June 2026",
        "Statistics of quoted and effective household interest rates, including mortgages, for June 2026.",
        "2026-07-01",
    ),
    hit(
        "https://en.wikipedia.org/wiki/European_Central_Bank",
        "European Central Bank - Wikipedia",
        "The European Central Bank (ECB) is the central component of the Eurosystem and of monetary policy.",
    ),
    hit(
        "https://data.ecb.europa.eu/data/mir-mortgage",
        "Bank interest rates: loans for house purchase",
        "Cost of borrowing for households for house purchase, euro area, monthly series from the ECB.",
        "2026-06-30",
    ),
    hit(
        "https://www.moneysavingexpert.com/mortgages/fix-or-tracker",
        "Fix or tracker? Choosing a mortgage",
        "Should you fix your mortgage now or stay on a tracker? Our guide with calculators.",
    ),
    hit(
        "https://www.cnbc.com/2024/06/06/ecb-cuts-rates.html",
        "ECB cuts rates for the first time since 2019",
        "The European Central Bank lowered interest rates on 6 June 2024, its first cut in five years.",
        "2024-06-06",
    ),
    hit(
        "https://www.cricbuzz.com/rates/ecb-county-championship",
        "ECB county championship: run rates",
        "The England and Wales Cricket Board publishes run rates for the county championship.",
        "2026-06-10",
    ),
    hit(
        "https://recipes.example.org/banana-bread",
        "Best banana bread",
        "Three ripe bananas, flour, butter and patience: this loaf comes out moist every time.",
    ),
    hit(
        "https://www.visitfrankfurt.travel/skyline",
        "Frankfurt skyline tours",
        "See the towers of the banking district from the river, with a guide and a glass of cider.",
    ),
    hit(
        "https://jobs.example.com/mortgage-advisor",
        "Mortgage advisor wanted",
        "We are hiring a mortgage advisor in Dublin. Apply today and join a friendly team.",
    ),
)

POLISH = (
    hit(
        "https://nbp.pl/stopy-procentowe-a-rynek-nieruchomosci-2026/",
        "Stopy procentowe NBP a rynek mieszkań w Warszawie",
        "Analiza wpływu stóp procentowych na ceny mieszkań w Warszawie i innych dużych miastach.",
        "2026-04-15",
    ),
    hit(
        "https://www.bankier.pl/wiadomosc/Ceny-mieszkan-w-Warszawie-po-obnizce-stop-8812345.html",
        "Ceny mieszkań w Warszawie po obniżce stóp procentowych",
        "Po majowej decyzji Rady Polityki Pieniężnej ceny warszawskich mieszkań wzrosły o 3 proc.",
        "2026-05-20",
    ),
    hit(
        "https://www.rp.pl/nieruchomosci/art4321-stopy-nbp-kredyty",
        "Niższa stopa NBP ożywia kredyty hipoteczne",
        "Obniżka stopy referencyjnej przez NBP zwiększa popyt na mieszkania, zwłaszcza w stolicy.",
        "2026-05-12",
    ),
    hit(
        "https://www.money.pl/banki/rpp-stopy-procentowe-maj.html",
        "RPP obniżyła stopy procentowe",
        "Rada Polityki Pieniężnej obniżyła stopę referencyjną NBP o 25 punktów bazowych.",
        "2026-05-07",
    ),
    hit(
        "https://pl.wikipedia.org/wiki/Stopa_procentowa",
        "Stopa procentowa – Wikipedia, wolna encyklopedia",
        "Stopa procentowa to cena, jaka przysługuje posiadaczowi kapitału z racji jego udostępnienia.",
    ),
    hit(
        "https://stat.gov.pl/obszary-tematyczne/ceny/mieszkania-1-kwartal-2026",
        "Ceny lokali mieszkalnych w 1. kwartale 2026",
        "Wskaźniki cen lokali mieszkalnych według województw, dane kwartalne GUS.",
        "2026-06-30",
    ),
    hit(
        "https://warszawa.example.pl/dzielnice/mieszkania-praga",
        "Mieszkania na warszawskiej Pradze drożeją",
        "Deweloperzy podnoszą ceny: nowe mieszkanie na Pradze kosztuje już 18 tysięcy za metr.",
        "2026-03-01",
    ),
    hit(
        "https://www.otodom.example/oferty/krakow",
        "Mieszkania na sprzedaż w Krakowie",
        "Przeglądaj oferty mieszkań w Krakowie: zdjęcia, ceny, kontakt z pośrednikiem.",
    ),
    hit(
        "https://kuchnia.example.pl/pierogi-ruskie",
        "Pierogi ruskie jak u babci",
        "Mąka, ziemniaki, twaróg i cebula: przepis na pierogi, który zawsze się udaje.",
    ),
    hit(
        "https://sport.example.pl/legia-warszawa-lech",
        "Legia Warszawa wygrywa z Lechem",
        "Dwa gole w drugiej połowie dały stołecznej drużynie trzy punkty.",
        "2026-05-20",
    ),
    hit(
        "https://www.zus.example.pl/emerytury-marzec",
        "Waloryzacja emerytur w marcu",
        "Od marca emerytury i renty rosną o wskaźnik waloryzacji.",
        "2026-03-02",
    ),
    hit(
        "https://www.pkobp.example.pl/kredyt-hipoteczny-oprocentowanie",
        "Oprocentowanie kredytu hipotecznego",
        "Sprawdź, jak stopa referencyjna wpływa na ratę kredytu na mieszkanie.",
    ),
    hit(
        "https://nauka.example.pl/fizyka/stopy-metali",
        "Stopy metali i ich własności",
        "Stopy aluminium i miedzi: skład, wytrzymałość, zastosowania w przemyśle.",
    ),
    hit(
        "https://forum.example.pl/watek/wynajem-warszawa",
        "Wynajem w Warszawie: ile płacicie?",
        "Podajcie ceny najmu i dzielnicę, zbieramy dane do porównania.",
    ),
)

GERMAN = (
    hit(
        "https://www.verbraucherzentrale.de/waermepumpe-altbau",
        "Wärmepumpe im Altbau: Lohnt sich das?",
        "Wärmepumpen funktionieren auch im Altbau. Was sie an Strom kosten und worauf es ankommt.",
        "2026-02-10",
    ),
    hit(
        "https://www.ise.fraunhofer.de/de/waermepumpen-bestand.html",
        "Wärmepumpen in Bestandsgebäuden: Messergebnisse",
        "Feldmessungen des Fraunhofer ISE zur Effizienz von Wärmepumpen in unsanierten Gebäuden.",
        "2025-11-03",
    ),
    hit(
        "https://www.zeit.de/wirtschaft/2026-03/waermepumpe-stromkosten-altbau",
        "Was die Wärmepumpe im alten Haus wirklich kostet",
        "Stromkosten von 1.400 Euro im Jahr: Drei Familien haben ihre Altbauten umgerüstet.",
        "2026-03-18",
    ),
    hit(
        "https://www.tagesschau.de/wissen/waermepumpentarife-101.html",
        "Wärmepumpentarife: So sinken die Stromkosten",
        "Eigene Stromtarife für Wärmepumpen senken die Kosten um ein Viertel.",
        "2026-01-22",
    ),
    hit(
        "https://de.wikipedia.org/wiki/W%C3%A4rmepumpenheizung",
        "Wärmepumpenheizung – Wikipedia",
        "Eine Wärmepumpenheizung entzieht der Umwelt Wärme und hebt sie auf ein höheres Niveau.",
    ),
    hit(
        "https://www.bafa.de/foerderung-heizungstausch",
        "Förderung für den Heizungstausch",
        "Zuschüsse für Wärmepumpen, Biomasse und Solarthermie: Anträge und Fristen.",
        "2026-01-02",
    ),
    hit(
        "https://www.energie-fachberater.de/altbau-daemmen",
        "Altbau dämmen: die wichtigsten Maßnahmen",
        "Fassade, Dach und Kellerdecke: was vor dem Heizungstausch getan werden sollte.",
    ),
    hit(
        "https://www.stromauskunft.example.de/preise",
        "Strompreise im Vergleich",
        "Aktuelle Stromkosten für Haushalte, nach Bundesländern und Anbietern.",
        "2026-06-01",
    ),
    hit(
        "https://www.fussball.example.de/bundesliga-tabelle",
        "Bundesliga: die aktuelle Tabelle",
        "Ergebnisse, Torschützen und Tabelle des letzten Spieltags.",
    ),
    hit(
        "https://www.chefkoch.example.de/apfelkuchen",
        "Apfelkuchen vom Blech",
        "Ein einfaches Rezept für saftigen Apfelkuchen mit Streuseln.",
    ),
    hit(
        "https://www.altbauwohnung.example.de/berlin-mieten",
        "Altbauwohnungen in Berlin mieten",
        "Stuck, Dielen und hohe Decken: freie Wohnungen in Berlin.",
    ),
    hit(
        "https://www.autohaus.example.de/elektroauto-ladekosten",
        "Was das Laden eines Elektroautos kostet",
        "Zu Hause oder an der Säule: die Ladekosten im Vergleich.",
        "2026-04-04",
    ),
    hit(
        "https://shop.example.de/gartenpumpen",
        "Gartenpumpen und Zubehör",
        "Tauchpumpen, Hauswasserwerke und Schläuche günstig bestellen.",
    ),
    hit(
        "https://www.kfw.example.de/heizung-zuschuss-458",
        "Zuschuss 458: Heizungsförderung für Privatpersonen",
        "Bis zu 70 Prozent Zuschuss für den Einbau einer klimafreundlichen Heizung.",
        "2026-02-01",
    ),
)
