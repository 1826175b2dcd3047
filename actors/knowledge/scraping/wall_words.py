"""What walls say, in many languages: that nothing is there, that one must log in, pay, consent, or be human.

`verdict` looks for it in texts that are lower-case.
"""

import re

NOT_FOUND = re.compile(
    r"(error )?(404|410)\b|\b(404|410)( error|: | - | – )?(not found)?$|"
    r"\b(page|site|document|article|item|product|content|url|resource)\b.{0,30}"
    r"\b(not found|could ?n.t be found|could not be found|can.t be found|cannot be found|does ?n.t exist|"
    r"does not exist|no longer (available|exists)|not available|has been (removed|deleted)|is gone|"
    r"was (removed|deleted)|unavailable)|"
    r"^not found|we can.t find|we couldn.t find|we could not find|nothing (was )?found|\bno (results|"
    r"matches)\b|"
    r"\b0 (results|wyników|ergebnisse|treffer|résultats?|resultados)\b|"
    r"(there is |looks like there.s )?nothing here|this page is.{0,20}(missing|gone)|sorry, (this|that|"
    r"the) page|"
    r"(nie (została |zostało |został )?(znalezion|odnalezion)|nie istnieje|nie (możemy|"
    r"mogliśmy) (tego )?znaleźć|"
    r"nie znaleźliśmy|nie znaleziono|brak (strony|wyników)|błąd 404|(jest )?już niedostępn|"
    r"(została?|zostało) (usunięt|przeniesion)|oferta (jest )?nieaktualna|zakończon)|"
    r"(nicht gefunden|existiert nicht|nicht (mehr )?(verfügbar|vorhanden)|konnte nicht gefunden|fehler 404|"
    r"keine (ergebnisse|treffer)|gibt es nicht( mehr)?|wurde (gelöscht|entfernt)|leider nicht gefunden)|"
    r"(page introuvable|introuvable|n.existe (pas|plus)|n.est plus disponible|aucun résultat)|"
    r"(no encontrad|no existe|ya no está disponible|sin resultados|no se encontr)|"
    r"(nenalezen|neexistuje|není k dispozici)|(pagina non trovata|non esiste|niet gevonden)|"
    r"(页面不存在|找不到|页面未找到|无法找到|已删除|不存在)|(غير موجود|الصفحة غير)|(не найден|не существует)"
)
LOGIN = re.compile(
    r"\b(log ?in|sign ?in|log on|sign on|member login|authentication|authenticate|restricted area|"
    r"members only|"
    r"subscribers? only|(create|register) (an )?account|your account|single sign.on|password)\b|"
    r"(zaloguj|logowanie|dostęp (tylko )?dla (zalogowanych|subskrybentów)|strefa (klienta|klientów)|hasło)|"
    r"(anmelden|anmeldung|einloggen|login erforderlich|nur für (mitglieder|abonnenten)|passwort)|"
    r"(connexion|se connecter|identifiez|mot de passe)|(iniciar sesión|inicia sesión|acceder|contraseña)|"
    r"(přihlášení|přihlaste|přihlásit)|(accedi)|(登录|登錄|密码)|(تسجيل الدخول)|(войти|вход)"
)
PAYWALL = re.compile(
    r"(subscribe|subscription|subscribers?|premium|paywall|continue reading|to read (the full|more|this)|"
    r"prenumer|wykup dostęp|subskryb|czytaj dalej|abonnieren|abonnement|jetzt weiterlesen|weiterlesen mit|"
    r"abonnez|réservé aux abonnés|suscr[ií]b|předplat)"
)
CONSENT = re.compile(
    r"(cookie|consent|your privacy|we value your|gdpr|personal data|partners|"
    r"accept all|reject all|tracking|personali[sz]ed|advertising|"
    r"zgod[aęy]|prywatnoś|ciasteczk|danych osobowych|zaufan[yi]|akceptuj|odrzuć|spersonalizowan|reklam|"
    r"einwilligung|zustimm|datenschutz|akzeptieren|ablehnen|werbung|personalisiert|"
    r"confidentialité|consentement|accepter|traceurs|privacidad|aceptar|consentimiento|souhlas|soukromí|"
    r"隐私|同意|ملفات تعريف|согласие)"
)
CONSENT_HEAD = re.compile(
    r"(cookie|consent|privacy|before you continue|zanim przejdziesz|zgod[aęy]|prywatnoś|ciasteczk|rodo|"
    r"einwilligung|zustimm|"
    r"datenschutz|cookies akzeptieren|bevor sie|confidentialité|consentement|avant de|privacidad|"
    r"antes de|souhlas|"
    r"soukromí|gdpr|隐私)"
)
POLICY_HEAD = re.compile(
    r"\b(policy|policies|statement|declaration|polityka|oświadczenie|politique|politica|política|zásady)\b|"
    r"(richtlinie|erklärung|beleid|隐私政策|политика)"
)
CHALLENGE = re.compile(
    r"(just a moment|checking your browser|verify(ing)? (that )?you are (a )?human|are you (a )?(human|"
    r"robot)|"
    r"attention required|access denied|security check|enable javascript and cookies to continue|"
    r"press (&|and) hold|unusual traffic|pardon our interruption|one more step|not a robot|bot detection|"
    r"prove (that )?you.re human|ddos protection|please complete the|human verification|robot check|"
    r"(potwierdź|udowodnij|zweryfikuj).{0,30}(człowiek|robot)|nie jesteś robotem|sprawdzanie przeglądarki|"
    r"sicherheitsüberprüfung|sind sie ein mensch|kein roboter|überprüf.{0,30}(browser|mensch)|"
    r"vérification de (votre navigateur|sécurité)|un instant|un momento|je n.suis pas un robot|"
    r"安全验证|人机验证)"
)
DENIED = re.compile(r"(access denied|reference #|request blocked|you have been blocked|incident id|ray id)")
SCRIPT_NEEDED = re.compile(
    r"(enable javascript|javascript (is )?(required|disabled|must|to be enabled)|requires javascript|"
    r"need to enable|without javascript|włącz.{0,20}javascript|wymaga.{0,20}javascript|"
    r"obsług.{0,10}javascript|"
    r"javascript.{0,30}(aktivier|benötigt|erforderlich|włącz|activ|habilit)|(aktivier|activ|habilit).{0,30}"
    r"javascript|povol.{0,15}javascript|启用.{0,5}javascript)"
)
