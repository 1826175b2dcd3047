"""Texts of everyday matters in our three languages: how near a model finds what is nothing to a query.

Called by scoring. An English-first model finds any two Polish texts near to each other, other models any two
at all. How near a query is to the middle one of these is what unlike texts of that language come to.
"""

from actors.platform.text.language import Language

# Titles and snippets like those that search engines give, of matters far from each other.
BACKGROUNDS: dict[Language, tuple[str, ...]] = {
    "en": (
        "Easy apple pie. A simple recipe with cinnamon, butter and a crisp crust, ready in an hour.",
        "Match report: two late goals decide the derby. The home side stays top of the table.",
        "How to repot orchids. When the roots need room, and which soil and light they like.",
        "Hotel by the sea with pool. Rooms with a balcony, breakfast included, ten minutes to the beach.",
        "The history of the violin. How makers in northern Italy gave the instrument its form.",
        "Treating a cold at home. What helps against a sore throat, and when to see a doctor.",
        "Open the new version of the app. Fixed errors, a dark theme and faster start.",
    ),
    "pl": (
        "Łatwa szarlotka. Prosty przepis z cynamonem, masłem i kruchym ciastem, gotowa w godzinę.",
        "Relacja z meczu: dwa gole w końcówce rozstrzygnęły derby. Gospodarze pozostają liderem tabeli.",
        "Jak przesadzać storczyki. Kiedy korzenie potrzebują miejsca, jakie podłoże i światło lubią.",
        "Hotel nad morzem z basenem. Pokoje z balkonem, śniadanie w cenie, dziesięć minut do plaży.",
        "Historia skrzypiec. Jak lutnicy z północnych Włoch nadali instrumentowi jego kształt.",
        "Leczenie przeziębienia w domu. Co pomaga na ból gardła i kiedy iść do lekarza.",
        "Nowa wersja aplikacji. Poprawione błędy, ciemny motyw i szybsze uruchamianie.",
    ),
    "de": (
        "Einfacher Apfelkuchen. Ein Rezept mit Zimt, Butter und knusprigem Teig, fertig in einer Stunde.",
        "Spielbericht: Zwei späte Tore entscheiden das Derby. Die Gastgeber bleiben Tabellenführer.",
        "Orchideen umtopfen. Wann die Wurzeln Platz brauchen und welche Erde und welches Licht sie mögen.",
        "Hotel am Meer mit Pool. Zimmer mit Balkon, Frühstück inklusive, zehn Minuten zum Strand.",
        "Die Geschichte der Geige. Wie Meister in Norditalien dem Instrument seine Form gaben.",
        "Erkältung zu Hause behandeln. Was gegen Halsschmerzen hilft und wann man zum Arzt geht.",
        "Neue Version der App. Behobene Fehler, dunkles Design und schnellerer Start.",
    ),
}
