"""Phrases that tell what a sentence is, in English, Polish and German: boilerplate, or leaning on others.

Read by `standing`. Each is in the form of `normal_form.words`, and found by its first word.
"""

from actors.platform.text.language import Language
from actors.platform.text.normal_form import words

# Phrases by their first words.
Phrases = dict[str, tuple[tuple[str, ...], ...]]


def _index(phrases: str) -> Phrases:
    found: dict[str, tuple[tuple[str, ...], ...]] = {}
    for phrase in phrases.split(";"):
        first, *rest = words(phrase).split()
        found[first] = (*found.get(first, ()), tuple(rest))
    return found


def _folded(spelled: str) -> frozenset[str]:
    return frozenset(words(spelled).split())


# In the form of `normal_form.words`; each stands between blanks or at an end.
BOILERPLATE = _index(
    # English
    "cookie;cookies;newsletter;newsletters;subscribe;unsubscribe;sign up;sign in;log in;click here;click on;"
    "tap here;all rights reserved;terms of use;terms of service;terms and conditions;privacy policy;"
    "advertising partners;sponsored content;affiliate link;affiliate links;follow us;like and subscribe;"
    "thanks for watching;contact us;join our;our app;download the;buy now;order now;shop now;book now;"
    "free trial;special offer;discount code;promo code;skip to content;skip to main;back to top;"
    "related articles;getty images;image credit;image source;photo by;photograph by;"
    "this article was originally;this article first;originally published;leave a comment;enable javascript;"
    "your browser;for immediate release;media inquiries;press contact;editor s note;not financial advice;"
    "not investment advice;"
    "we value your privacy;our partners;embargoed until;solely responsible for;share it with;comments below;"
    "enter your email;registered in england;notes for editors;notes to editors;no obligation to update;"
    "you re welcome;forward looking statements;to your inbox;partners store;your choices at any;"
    "try it free;your line is open;turn the call over;actual results may differ;put together of quotations;"
    "sample data to try things on;in no source so check;i beg to move;thank you for talking to;have your say;"
    "share your thoughts;"
    # Polish
    "ciasteczka;ciasteczek;pliki cookie;plikow cookie;newslettera;newsletterze;zapisz sie;zasubskrybuj;"
    "subskrybuj;kliknij;kliknij tutaj;czytaj wiecej;czytaj takze;czytaj rowniez;zobacz takze;zobacz rowniez;"
    "przeczytaj takze;przeczytaj tez;dowiedz sie wiecej;wszelkie prawa zastrzezone;"
    "wszystkie prawa zastrzezone;polityka prywatnosci;polityke prywatnosci;regulamin serwisu;"
    "material sponsorowany;artykul sponsorowany;material reklamowy;udostepnij;obserwuj nas;polub nas;"
    "skontaktuj sie;kup teraz;kup bilet;zamow teraz;zaloguj sie;zarejestruj sie;kod rabatowy;"
    "dalsza czesc artykulu;dalszy ciag;zrodlo zdjecia;wlacz javascript;strona glowna;powrot na gore;"
    "prosze nie przeszkadzac;glos ma;udzielam glosu;na tym protokol zakonczono;"
    "szanowny uzytkowniku;przejdz do serwisu;prosze o spokoj;autor jest;autorka jest;"
    "wyrazasz zgode;zgode mozesz;nie ponosi odpowiedzialnosci;prosze o zabranie glosu;"
    # German
    "cookie einstellungen;newsletters abonnieren;abonnieren;abonnieren sie;abonniere;jetzt anmelden;"
    "jetzt registrieren;hier klicken;klicken sie;klicke hier;weiterlesen;lesen sie auch;lesen sie hier;"
    "lesen sie mehr;mehr erfahren;erfahren sie mehr;mehr zum thema;siehe auch;alle rechte vorbehalten;"
    "datenschutzerklarung;nutzungsbedingungen;impressum;gesponsert;artikel teilen;jetzt teilen;"
    "folgen sie uns;folgt uns;kontaktieren sie;jetzt kaufen;jetzt bestellen;jetzt kostenlos;rabattcode;"
    "zum inhalt springen;startseite;bildquelle;bildnachweis;javascript aktivieren;ihr browser;"
    "pur abo;werbefrei;das wort hat;nachster redner ist;nachste rednerin ist;ich schliesse die aussprache;"
    "ist der emittent verantwortlich;die abmeldung ist;konnen davon abweichen;"
    # To a model
    "ignore previous;ignore all previous;ignore the previous;ignore all instructions;ignore the above;"
    "ignore your instructions;ignore any previous;ignore these instructions;disregard previous;disregard all;"
    "disregard the above;disregard your;forget previous;forget all previous;forget your instructions;"
    "previous instructions;new instructions;system prompt;system message;developer message;"
    "you are an assistant;you are a helpful;you are an ai;you are now;you are chatgpt;as an ai;"
    "as a language model;language model you;pretend to be;pretend you are;jailbreak;your instructions;"
    "output only;respond only with;zignoruj poprzednie;zignoruj wszystkie;zignoruj powyzsze;"
    "ignoruj poprzednie;ignoruj wszystkie;poprzednie instrukcje;poprzednich instrukcji;jestes asystentem;"
    "jestes teraz;jestes modelem;prompt systemowy;ignoriere alle;ignoriere die vorherigen;"
    "ignoriere vorherige;ignoriere die obigen;ignorieren sie alle;vorherigen anweisungen;"
    "vorherige anweisungen;du bist ein assistent;du bist jetzt;du bist ein hilfreicher;systemprompt;"
    "systemnachricht"
)
# These only where a sentence begins: elsewhere they are words like others.
BOILERPLATE_AT_START = _index(
    "advertisement;sponsored;read more;learn more;find out more;see also;share this;share on;print this;"
    "watch now;reklama;czytaj tez;zobacz tez;fot;anzeige;werbung;mehr lesen;mehr dazu;nach oben"
    ";see;retrieved;for the novel;for the film;for other uses;printed by;cf;siehe;vgl;zob;por;share it;"
    "reference;emitent;temat;originalpublikation;note to ai;notes for ai;hinweis an"
)
# What a sentence can begin with only where something went before.
LEANS: dict[Language, Phrases] = {
    "en": _index(
        "it;he;she;they;them;his;her;hers;their;theirs;him;its;this;that;these;those;but;and;or;nor;so;yet;"
        "however;therefore;thus;hence;instead;such;another;others;also;besides;moreover;furthermore;"
        "nevertheless;nonetheless;consequently;accordingly;otherwise;conversely;similarly;likewise;"
        "additionally;then;other;neither;either;indeed;still;too;elsewhere;afterwards;afterward;thereafter;"
        "both;which;who;whom;whose;as a result;by comparison;as a consequence;for example;for instance;"
        "for this;for that;for these;for those;in addition;in this;in that;in these;in those;in contrast;"
        "in turn;in response;in other words;in particular;in fact;in such;on the other hand;on this;on that;"
        "on the contrary;at this;at that;at these;at those;at the same time;by contrast;by this;by that;"
        "by then;by doing so;with this;with that;with these;with those;from this;from these;from there;"
        "of these;of those;of this;of them;to this;to that end;to these;under this;under these;despite this;"
        "despite that;after this;after that;before that;since then;until then;even so;the latter;the former;"
        "the other;the others;the same;the two;the three;the above;one of these;one of them;some of these;"
        "some of them;many of them;many of these;most of them;most of these;all of this;all of these;"
        "all this;all these;all of them;each of these;each of them;none of this;none of them;as such;"
        "as mentioned;as noted;as shown;as described;as well as this;much of this;part of this;"
        "at least that;at least this;at least so;"
        "because of this;because of that;due to this;given this;given that;given these;not only that;"
        "more than that;what s more;what is more;above all else;only then;even then;even this"
        ";two of them;three of them;both of them;asked about;not so;only four did;in his view;in her view;"
        "in their view;in its view;in the first;in the second"
    ),
    "pl": _index(
        "on;ona;ono;oni;one;jego;jej;ich;im;jemu;nim;nimi;nią;niego;niej;nich;to;ten;ta;te;ci;tego;tej;tych;"
        "temu;tym;tę;tą;tymi;jednak;jednakże;dlatego;ale;lecz;natomiast;zatem;więc;ponadto;a;i;oraz;albo;lub;"
        "bo;gdyż;bowiem;zaś;wówczas;wtedy;potem;stąd;tam;tak;taki;taka;takie;tacy;takich;takim;również;też;"
        "także;zresztą;niemniej;następnie;jednocześnie;podobnie;inni;inne;inny;inna;przeciwnie;owszem;"
        "dodatkowo;dodał;dodała;który;która;które;którzy;swoje;swój;swoją;w zwiazku z tym;dla porownania;"
        "w tym;w tej;w tych;w ten;w takim;w takiej;w efekcie;w rezultacie;w konsekwencji;w odpowiedzi;"
        "w przeciwienstwie;w dodatku;z tego;z tej;z tym;z tych;z kolei;z drugiej strony;do tego;do tej;"
        "do tych;na to;na tej;na tym;na ten;na przyklad;na te;od tego;od tej;od tamtej;od tych;po tym;po tej;"
        "po czym;przez to;przy tym;przy czym;mimo to;pomimo to;poza tym;oprocz tego;procz tego;zamiast tego;"
        "dzieki temu;wbrew temu;wobec tego;o tym;o tej;za to;za tym;ze wzgledu na to;z tego powodu;"
        "podczas tego;podczas tej;dla nich;dla niego;dla niej;wedlug niego;wedlug niej;wedlug nich;"
        "zdaniem tego;jak dodal;jak dodala;co wiecej;co wazne;co istotne;co oznacza;byc moze dlatego;"
        "innymi slowy;przede wszystkim dlatego;miedzy innymi dlatego;w nim;w niej;w nich;u nich;do niego;"
        "do niej;do nich;z nim;z nia;z nich;jeden z nich;jedna z nich;czesc z nich;wiekszosc z nich;"
        "przy takim;przy takiej;przy takich;jesli nie to;zarzut ten;zalozenie to;"
        "kazdy z nich;zaden z nich;obie;oba;obaj;dalej;oto"
    ),
    "de": _index(
        "er;sie;es;dies;diese;dieser;dieses;diesen;diesem;aber;doch;und;oder;denn;daher;deshalb;deswegen;"
        "darum;jedoch;dagegen;hingegen;zudem;außerdem;ferner;somit;folglich;demnach;dennoch;trotzdem;"
        "allerdings;stattdessen;damit;dabei;dafür;daran;darauf;daraus;darin;darüber;davon;dazu;danach;davor;"
        "dadurch;dahinter;dort;dorthin;sein;seine;seiner;seinem;seinen;ihr;ihre;ihrer;ihrem;ihren;ihm;ihn;"
        "ihnen;jene;jener;jenes;solche;solcher;solches;so;also;auch;ebenso;gleichzeitig;andere;anderer;"
        "anderes;letztere;letzterer;erstere;beide;beides;hierzu;hierbei;hierfür;dann;sonst;ansonsten;nämlich;"
        "insofern;welche;welcher;weiterhin;zugleich;jenen;jenem;derselbe;dieselbe;aus diesem;aus dieser;"
        "aus diesen;in diesem;in dieser;in diesen;in dieser hinsicht;an diesem;an dieser;an diesen;auf diese;"
        "auf diesem;auf dieser;bei diesem;bei dieser;bei diesen;mit diesem;mit dieser;mit diesen;nach diesem;"
        "nach dieser;nach diesen;unter diesen;unter diesem;von diesem;von dieser;von diesen;vor diesem;"
        "vor diesen;zu diesem;zu dieser;zu diesen;fur diese;fur diesen;fur dieses;durch diese;durch diesen;"
        "uber diese;trotz dieser;trotz dieses;wegen dieser;wahrend dieser;zum beispiel;zum vergleich;"
        "im gegensatz;im gegenteil;im vergleich dazu;im ubrigen;im gegenzug;zum einen;zum anderen;"
        "auf der anderen seite;infolgedessen;aufgrund dessen;aufgrund dieser;anders als;bis dahin;"
        "seit damals;seitdem;seither;mit anderen worten;mehr noch;hinzu kommt;vielmehr;uberdies;"
        "daruber hinaus;des weiteren;ein anderer;eine andere;ein weiterer;eine weitere;ein weiteres;weitere;"
        "die anderen;einer von ihnen;eine von ihnen;viele von ihnen;einige von ihnen;keiner von ihnen;"
        "unter ihnen;bei ihnen;mit ihnen;fur sie;fur ihn;nach ihrer;nach seiner"
        ";anschliessend;damals;hinzu kommen;anders lage;ob sich das;wenn er;wenn sie;wenn es;sollte er;"
        "sollte sie;sollten sie;das spart;das steht;das zeigt;das heisst;das reicht;das bringt;das kostet;"
        "das macht;das geht;das gilt;das stimmt;das liegt;ganz unrecht"
    ),
}
CONNECTS: dict[Language, frozenset[str]] = {
    "en": frozenset(),
    "pl": _folded("jednak jednakże natomiast zaś więc bowiem zatem ponadto dlatego"),
    "de": _folded(
        "jedoch dagegen hingegen allerdings deshalb daher zudem außerdem dennoch trotzdem somit nämlich"
    ),
}


def stands_at(phrases: Phrases, told: list[str], place: int) -> bool:
    """Whether one of the phrases stands there."""
    if place >= len(told):
        return False
    return any(told[place + 1 : place + 1 + len(rest)] == list(rest) for rest in phrases.get(told[place], ()))
