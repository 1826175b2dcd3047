"""What walls say, in many languages: that nothing is there, that one must log in, pay, consent, or be human.

`verdict` looks for it in texts that are lower-case. A line for each language, where it has words of its own;
each part is a regular expression, and none repeats what may be long.
"""

import re


def _any_of(*parts: str) -> re.Pattern[str]:
    return re.compile("|".join(parts))


NOT_FOUND = _any_of(
    r"(error )?(404|410)\b|\b(404|410)( error|: | - | – )?(not found)?$",
    r"\b(page|site|document|article|item|product|content|url|resource|user|profile|topic|thread|event|listing|"
    r"job|ad)\b.{0,30}\b(not found|could ?n.t be found|could not be found|can.t be found|cannot be found|"
    r"does ?n.t exist|does not exist|no longer (available|exists|open)|not available|"
    r"has been (removed|deleted)|has expired|is gone|was (removed|deleted)|unavailable)",
    r"^not found|we can.t find|we couldn.t find|we could not find|nothing (was )?found",
    r"\bno (results|matches)\b",
    r"currently no text in this page|(there is |looks like there.s )?nothing here",
    r"this page is.{0,20}(missing|gone)",
    r"sorry, (this|that|the) page",
    r"\b0 (results|wyników|ergebnisse|treffer|résultats?|resultados|risultati|resultaten)\b",
    # pl
    r"nie (została |zostało |został )?(znalezion|odnalezion)|nie istnieje",
    r"nie (możemy|mogliśmy) (tego )?znaleźć",
    r"nie znaleźliśmy|nie znaleziono|brak (strony|wyników)|błąd 404|(jest )?już niedostępn",
    r"nie jest już dostępn",
    r"(została?|zostało) (usunięt|przeniesion)",
    r"(oferta|ogłoszenie|aukcja|sprzedaż|strona|wydarzenie).{0,30}(nieaktualn|zakończon|wygas)",
    # de
    r"nicht gefunden|existiert (leider )?nicht|nicht (mehr )?(verfügbar|vorhanden)|konnte nicht gefunden",
    r"fehler 404",
    r"keine (ergebnisse|treffer)|gibt es nicht( mehr)?|nicht mehr online",
    r"(seite|anzeige|angebot|stelle|artikel|beitrag|thema).{0,30}(abgelaufen|beendet|gelöscht|entfernt)",
    # fr, it, es, pt, ro
    r"introuvable|n.existe (pas|plus)|n.est (plus|pas) (disponible|en ligne)|aucun résultat",
    r"(page|annonce|offre|sujet|profil|article).{0,30}(a expiré|expirée|supprimée?\b|retirée?\b)",
    r"non trovat[oa]|non esiste|non è (più )?disponibile|nessun risultato",
    r"(pagina|annuncio|offerta|prodotto|discussione).{0,30}(scadut|rimoss|eliminat|cancellat)",
    r"no encontrad|no existe|ya no está disponible|sin resultados|no se (ha )?encontr",
    r"(página|anuncio|oferta|publicación|tema|perfil).{0,30}(caducad|eliminad|borrad|expirad)",
    r"não (foi )?encontrad|não existe|já não está disponível|não está mais disponível|nenhum resultado",
    r"(página|anúncio|oferta|produto|tópico).{0,30}(removid|eliminad|expir)",
    r"nu (a fost|a putut fi) g[ăa]sit|nu (mai )?există|niciun rezultat|nu mai (este|e) disponibil",
    # nl, sv, da, no, fi
    r"niet gevonden|bestaat niet( meer)?|niet (langer|meer) beschikbaar|geen resultaten",
    r"(pagina|advertentie|vacature|product|onderwerp).{0,30}(verwijderd|verlopen)",
    r"hittades inte|kunde inte hitta|finns (inte|ej)( längre| kvar)?|inga (träffar|resultat)",
    r"(sidan|annonsen|inlägget|produkten|tråden).{0,30}(tagits bort|borttag|utgått)",
    r"ikke fundet|findes ikke( længere)?|ingen resultater|ingen treff",
    r"(siden|annoncen|annonsen|opslaget|innlegget|varen).{0,30}(slettet|fjernet|udløbet|utløpt)",
    r"ikke funnet|finnes ikke( lenger)?|fant ikke",
    r"sivulla ei ole tekstiä|ei löydy|ei löytynyt|ei ole (enää )?(olemassa|saatavilla)",
    r"ei (tuloksia|hakutuloksia)",
    r"(sivu|ilmoitus|tuote|viesti).{0,30}(poistettu|vanhentunut)",
    # cs, sk, hu, hr, tr
    r"nenalezen|neexistuje|není (již )?k dispozici|žádné výsledky|nenájden|nenašl[ai]",
    r"(stránka|inzerát|nabídka|příspěvek|produkt).{0,30}(smazán|odstraněn|vypršel)",
    r"nem található|nem létezik|már nem (elérhető|érhető el)|nincs találat",
    r"(oldal|hirdetés|termék|téma).{0,30}(lejárt|törölt|törlésre)",
    r"nije pronađen|ne postoji|nema rezultata|bulunamadı|mevcut değil|artık (yayında|mevcut) değil",
    r"(sayfa|ilan|ürün).{0,30}kaldırıl|sonuç yok",
    # el, ru, uk
    r"δεν βρέθηκ|δεν υπάρχει|δεν είναι (πλέον )?διαθέσιμ|κανένα αποτέλεσμα|έχει διαγραφεί",
    r"не найден|не существует|больше не доступ|ничего не найдено|не знайден|не існує",
    r"(страниц|объявлен|товар|тем|сторінк|оголошенн).{0,30}(удал|видален|снят)",
    # zh, ja, ko, ar, vi, id
    r"页面不存在|找不到|页面未找到|无法找到|已(被)?删除|不存在|已下架|没有找到|沒有找到",
    r"見つかりません|存在しません|(ページ|掲載|商品|販売|募集).{0,15}(削除され|終了し)|ヒットしません",
    r"찾을 수 없|존재하지 않|삭제되|검색 결과가 없",
    r"غير موجود|الصفحة غير|không tìm thấy|không tồn tại|tidak ditemukan",
)
LOGIN = _any_of(
    r"\b(log ?in|sign ?in|log on|sign on|member login|authentication|authenticate|restricted area|"
    r"members only|subscribers? only|(create|register) (an )?account|your account|single sign.on|password)\b",
    r"zaloguj|logowanie|dostęp (tylko )?dla (zalogowanych|subskrybentów)|strefa (klienta|klientów)|hasło",
    r"\banmelden|\banmeldung|einloggen|login erforderlich|nur für (mitglieder|abonnenten)|passwort",
    r"\bconnexion|se connecter|connectez|identifiez|mot de passe|iniciar sesión|inicia sesión|\bacceder\b",
    r"contraseña",
    r"\baccedi\b|effettua l.accesso|\biniciar sessão|\bentrar\b|palavra.passe|\bsenha\b|autentific",
    r"conectează|\bparol[aă]",
    r"\binloggen\b|\blog in\b|aanmelden|wachtwoord|\blogga in|inloggning|lösenord|\blog ind\b|adgangskode",
    r"\blogg inn\b|passord",
    r"kirjaudu|kirjautuminen|salasana|přihlášení|přihlaste|přihlásit|prihlás|bejelentkez|jelszó|prijavi",
    r"lozink",
    r"giriş yap|oturum aç|\bşifre|σύνδεση|συνδεθείτε|κωδικός|войти|вход|авториз|пароль|увійти|увійдіть|вхід",
    r"登录|登錄|登入|密码|密碼|ログイン|サインイン|パスワード|로그인|비밀번호|تسجيل الدخول",
)
# What says that the page is not for who has not logged in, whatever else it holds.
LOGIN_ASKED = _any_of(
    r"(must|need to|have to|please|required to)( be)? (log ?(ged)? ?in|sign(ed)? ?in|log on)",
    r"you are not (logged|signed) in",
    r"(log|sign) in to (continue|view|see|read|access|proceed)",
    r"(only|just) (for|visible to|available to) (registered|members|logged)",
    r"this (account|profile|page|content|area|board) is (private|restricted)",
    r"for (registered )?(members|users) only",
    r"(zaloguj|zaloguj się),? (aby|żeby|by)\b|musisz (być zalogowan|się zalogować)|tylko dla zalogowanych",
    r"profil.{0,20}prywatn",
    r"(bitte|müssen sie sich|musst du dich).{0,30}(anmelden|einloggen|ein\b)",
    r"nur für (registrierte|angemeldete|mitglieder)",
    r"(connectez|identifiez).vous (pour|avant)|vous devez (être connecté|vous connecter)",
    r"réservée? aux (membres|inscrits|abonnés)",
    r"(inicia|inicie|debes iniciar) sesión (para|antes)|solo para (miembros|usuarios registrados)",
    r"perfil.{0,20}privad",
    r"(accedi|effettua (il login|l.accesso)|devi accedere) per",
    r"riservat[oa] (agli|ai) (utenti|iscritti|soci|abbonati)",
    r"(inicie|faça|entre) .{0,20}(sessão|login|conta) para|apenas para (membros|utilizadores registados)",
    r"(log in|inloggen|meld je aan|u moet).{0,20}(om|ingelogd)",
    r"alleen (voor|zichtbaar voor) (leden|ingelogde|geregistreerde)",
    r"(logga in|du måste (vara inloggad|logga in)).{0,20}|(log ind|du skal (være logget|logge) ind)",
    r"(logg inn|du må (være logget|logge) inn)",
    r"(kirjaudu|sinun on kirjauduttava)|(přihlaste se|musíte (být přihlášen|se přihlásit))",
    r"(jelentkezz(en)?|be kell jelentkez)",
    r"(trebuie să (te|vă|fii|fiți)).{0,20}(conect|autentific)",
    r"(giriş yap|oturum aç).{0,15}(gerek|malısınız|ın)",
    r"(необходимо|нужно|чтобы).{0,40}(войти|авториз)|войдите|(необхідно|потрібно).{0,30}(увійти|авториз)",
    r"увійдіть",
    r"(συνδεθείτε|πρέπει να συνδεθ)|(请|請)先?(登录|登錄|登入)|(登录|登錄|登入)后",
    r"ログインして(ください|から)|로그인(이 필요|해 주세요|하세요|후)",
)
PAYWALL = _any_of(
    r"subscribe|subscription|subscribers?|premium|paywall|continue reading|to read (the full|more|this)",
    r"prenumer|wykup dostęp|subskryb|czytaj dalej|abonnieren|abonnement|jetzt weiterlesen|weiterlesen mit",
    r"abonnez|réservé aux abonnés|suscr[ií]b|předplat|abbonati|assin(e|ante)|abonneer|előfizet|tilaa\b",
    r"tilaaj|подпис",
)
CONSENT = _any_of(
    r"cookie|consent|your privacy|we value your|gdpr|personal data|partners|accept all|reject all|tracking",
    r"personali[sz]ed|advertising|ad.free|legitimate interest",
    r"zgod[aęyz]|prywatnoś|ciasteczk|danych osobowych|zaufan[yi]|akceptuj|odrzuć|spersonalizowan|reklam",
    r"einwilligung|zustimm|datenschutz|akzeptieren|ablehnen|werbung|werbefrei|personalisiert|personenbezogen",
    r"confidentialité|vie privée|consentement|accepter|refuser|traceurs|publicités? |données personnelles",
    r"partenaires",
    r"privacidad|aceptar|rechazar|consentimiento|publicidad|datos personales|socios",
    r"privacidade|aceitar|rejeitar|recusar|consentimento|publicidade|dados pessoais|parceiros",
    r"\bprivacy|consenso|accett[ao]|rifiut[ao]|pubblicità|dati personali|toestemming|accepteren|weigeren",
    r"advertenties|persoonsgegevens",
    r"samtyck|godkänn|avvisa|annonser|personuppgifter|samtykke|accept[eé]r|afvis|annoncer|godta|avvis",
    r"personopplysninger",
    r"eväste|hyväksy|hylkää|suostumu|mainont|souhlas|soukromí|přijmout|odmítnout|osobních údajů|reklam",
    r"súhlas",
    r"\bsüti|hozzájárul|elfogad|elutasít|adatvédel|hirdetés|consimț|accept[aă]|refuz|confidențialit",
    r"publicitat",
    r"çerez|onay|kabul et|reddet|gizlilik|kişisel veri|συγκατάθεσ|αποδοχή|απόρριψη|απόρρητ|διαφημίσ",
    r"соглас|принять|отклонить|конфиденциальност|реклам|згод|прийняти|відхилити|конфіденційн|куки",
    r"файли? cookie",
    r"隐私|同意|接受|拒绝|隱私|個人情報|プライバシー|クッキー|拒否|広告|쿠키|동의|개인정보|거부|광고",
    r"ملفات تعريف",
)
CONSENT_HEAD = _any_of(
    r"cookie|consent|privacy|gdpr|rodo|before you continue|your choices|ad.free|accept and continue",
    r"zanim przejdziesz|zgod[aęy]|prywatnoś|ciasteczk|einwilligung|zustimm|datenschutz|bevor sie|werbefrei",
    r"mit werbung",
    r"confidentialité|vie privée|consentement|avant de|privacidad|antes de|consentimiento|consentimento",
    r"consenso|prima di continuare|toestemming|voordat (je|u)|samtyck|samtykke|innan du|før du|eväste",
    r"suostumu|ennen kuin",
    r"souhlas|soukromí|než budete|\bsüti|hozzájárul|adatvédel|mielőtt|consimț|confidențialit|înainte (să|de)",
    r"çerez|gizlilik|devam etmeden|συγκατάθεσ|απόρρητ|πριν συνεχίσ|соглас|конфиденциальност|прежде чем",
    r"згод|конфіденційн|перш ніж",
    r"隐私|隱私|プライバシー|クッキー|続行する前|쿠키|개인정보|계속하기 전",
)
# On the button of a wall.
ACCEPT = _any_of(
    r"accept|agree|allow|\bok\b|okay|got it|continue|akceptuj|zgadzam|zgoda|przejdź|akzeptier|zustimm",
    r"einverstanden|weiter",
    r"accepter|continuer|j.accepte|accetta|continua|acconsent|acept|aceit|continuar|accepte|akkoord",
    r"doorgaan|toestaan",
    r"godkänn|acceptera|fortsätt|tillad|fortsæt|godta|aksepter|fortsett|hyväksy|jatka|souhlas|přijmout",
    r"pokračovat",
    r"elfogad|tovább|sunt de acord|kabul|devam|αποδοχή|αποδέχομαι|συνέχεια|принять|принима|соглас|продолж",
    r"прийняти|погодж",
    r"同意|接受|继续|許可|承諾|続ける|동의|수락|계속|أوافق|موافق",
)
POLICY_HEAD = _any_of(
    r"\b(policy|policies|statement|declaration|polityka|oświadczenie|politique|politica|política|informativa|zásady)\b",
    r"richtlinie|erklärung|beleid|policy|szabályzat|politikası|πολιτική|隐私政策|ポリシー|정책",
    r"처리방침",
    r"политика|політика",
)
CHALLENGE = _any_of(
    r"just a moment|checking your browser|verify(ing)? (that )?you are (a )?human|are you (a )?(human|robot)",
    r"attention required|access denied|security check|enable javascript and cookies to continue",
    r"press (&|and) hold",
    r"unusual traffic|pardon our interruption|one more step|not a robot|bot detection",
    r"prove (that )?you.re human",
    r"ddos protection|please complete the|human verification|robot check",
    r"(potwierdź|udowodnij|zweryfikuj).{0,30}(człowiek|robot)|nie jesteś robotem|sprawdzanie przeglądarki",
    r"sicherheitsüberprüfung|sind sie ein mensch|kein roboter|überprüf.{0,30}(browser|mensch)",
    r"vérification de (votre navigateur|sécurité)|un instant|un momento|je n.suis pas un robot|安全验证",
    r"人机验证",
)
DENIED = re.compile(r"(access denied|reference #|request blocked|you have been blocked|incident id|ray id)")
SCRIPT_NEEDED = _any_of(
    r"enable javascript|javascript (is )?(required|disabled|must|to be enabled)|requires javascript",
    r"need to enable",
    r"without javascript|włącz.{0,20}javascript|wymaga.{0,20}javascript|obsług.{0,10}javascript",
    r"javascript.{0,30}(aktivier|benötigt|erforderlich|włącz|activ|habilit)",
    r"(aktivier|activ|habilit).{0,30}javascript",
    r"povol.{0,15}javascript|启用.{0,5}javascript",
)
