"""Words that name nobody: who `the Company`, `the Chairman` or `we` is, only their text says.

English, Polish and German. A name that is made of nothing else is no name; `Board of Trade`
and `Bank of England` are.
"""

from collections.abc import Sequence

from actors.platform.text.names.legal_forms import FORM_WORDS
from models.knowledge.points import EntityType
from models.text import word_list

_POINTING = word_list(
    "the a an this that these those said its his her their our my your der die das den dem des ein eine "
    "dieser diese dieses unser unsere sein seine ihr ihre ten ta to nasz nasza nasze jego jej ich"
)
_PRONOUNS = frozenset(
    word_list(
        "i you he she it we they me him us them who himself herself itself themselves ourselves ja ona ono "
        "my wy oni one jego ją jej ich nas nam nami was wam im ich er sie es wir ihr du ihm ihn ihnen uns "
        "我 我们 他 她 它 他们"
    )
)
_BODIES = word_list(
    "agency authority bank board branch bureau business chamber club commission committee company council "
    "court department division enterprise firm foundation fund government group holding holdings institute "
    "institution ministry office organisation organization parliament partnership party police school "
    "subsidiary team trust undertaking university agencja bank firma fundacja fundusz grupa klub komisja "
    "komitet ministerstwo oddział organ organizacja partia przedsiębiorstwo rada rady rząd sąd sądu spółce "
    "spółka spółki spółkę stowarzyszenie szkoła towarzystwo uczelnia uniwersytet urząd zakład zarząd "
    "zarządu zespół aufsichtsrat behörde fonds gericht gesellschaft gruppe hochschule kommission konzern "
    "ministerium parlament partei polizei rat regierung stiftung tochtergesellschaft unternehmen verband "
    "verein verwaltung vorstand vorstands bundesregierung 公司 本公司 当社 弊社"
)
_PARTIES = word_list(
    "affiliate agent appellant applicant assignee assignor bidder borrower buyer claimant client "
    "contractor counterparty creditor customer debtor defendant employee employer guarantor insured "
    "insurer issuer landlord lender lessee lessor licensee licensor owner parent partner party petitioner "
    "plaintiff prosecutor provider purchaser respondent seller shareholder stockholder subcontractor "
    "supplier tenant trustee user vendor witness dłużnik emitent klient kupujący najemca oskarżona "
    "oskarżony oskarżonego powoda powód powódka pozwana pozwanej pozwanego pozwany pracodawca pracownik "
    "sprzedająca sprzedający strona strony świadek ubezpieczony ubezpieczyciel wierzyciel wnioskodawca "
    "wykonawca wynajmujący zamawiający zleceniobiorca zleceniodawca angeklagte angeklagter antragsgegner "
    "antragsteller arbeitgeber arbeitnehmer auftraggeber auftragnehmer beklagte beklagten beklagter "
    "emittent emittentin gläubiger kläger klägerin käufer käuferin kunde mieter schuldner verkäufer "
    "verkäuferin vermieter versicherer zeuge zeugin 甲方 乙方 丙方"
)
_OFFICES = word_list(
    "adviser advisor ambassador analyst attorney author ceo cfo chair chairman chairperson chairwoman "
    "chancellor cio coach colleague coo counsel cto deputy director editor emperor engineer executive "
    "expert father founder governor head husband judge justice king lawyer leader man manager mayor member "
    "minister mother officer official physician pope president prince princess professor queen reporter "
    "secretary senator spokesman spokesperson spokeswoman treasurer wife woman autor burmistrz członek "
    "dyrektor kanclerz kierownik król minister papież premier prezes prezesa prezydent prezydenta "
    "prokurator przewodnicząca przewodniczący redaktor rzecznik rzeczniczka sędzia senator wiceprezes wójt "
    "bundeskanzler bundeskanzlerin bürgermeister bürgermeisterin chef chefin direktor geschäftsführer "
    "geschäftsführerin kanzler kanzlerin könig ministerin ministerpräsident papst präsident präsidentin "
    "richter richterin sprecher sprecherin vorsitzende vorsitzenden vorsitzender vorstandsvorsitzende "
    "vorstandsvorsitzender"
)
_THINGS = word_list(
    "act agreement annex appendix application bond city contract country directive document exhibit goods "
    "law lease licence license loan meeting merger note offering premises product project property "
    "regulation report schedule securities service software transaction website dokument miasto projekt "
    "produkt umowa umowy ustawa ustawy usługa usługi gesetz produkt projekt stadt vereinbarung vertrag "
    "vertrags"
)
# They say which of a company's, not of which company.
_WHICH = word_list(
    "acting audit chief corporate deputy directors executive finance financial foreign former general "
    "human legal managing management marketing operating prime remuneration resources risk sales senior "
    "shareholders supervisory technology vice finansowy finansów generalny nadzorcza nadzorczej operacyjny "
    "wykonawczy zagranicznych geschäftsführender stellvertretender stellvertretende of for and on in der "
    "des für und von"
)
# Each kind by itself: the `Project Management Institute` is somebody.
_KINDS = (frozenset((*_BODIES, *_PARTIES, *_OFFICES)), frozenset(_THINGS))
_BESIDE = frozenset((*_POINTING, *_WHICH)) | FORM_WORDS
# Of these, what a text says in one word is what another says: `president` is one office.
_COMMON_TO_ALL: frozenset[EntityType] = frozenset({"concept"})


def is_generic_mention(written: Sequence[str], entity_type: EntityType) -> bool:
    """Whether a name's words are pronouns, roles and legal forms only, with what points to them."""
    if not written:
        return False
    # `US` and `IT` are no pronouns.
    if all(word.casefold() in _PRONOUNS and (len(word) == 1 or not word.isupper()) for word in written):
        return True
    if entity_type in _COMMON_TO_ALL:
        return False
    words = [word.casefold() for word in written]
    return any(_are_roles(words, roles) for roles in _KINDS)


def _are_roles(words: Sequence[str], roles: frozenset[str]) -> bool:
    # With their plurals, and `the Companys` of `the Company's`.
    named = [word in roles or (word[-1] == "s" and word[:-1] in roles) for word in words]
    return all(role or word in _BESIDE for word, role in zip(words, named, strict=True)) and (
        any(named) or any(word in FORM_WORDS for word in words)
    )


def is_pointing(word: str) -> bool:
    """Whether a word only points: an article, `this`, `our`."""
    return word.casefold() in _POINTING
