"""The ways that a page has to ask for an address: elements, styles, scripts, headers, and frames of its own.

`{at}` stands for the address of the way, `/left/NAME` of the same site. The table is of all that was thought
of; which of them this Chromium goes where it may, the test says.
"""

# Elements in the page.
ELEMENTS = {
    **{
        f"link-{rel.replace(' ', '-')}": f'<link rel="{rel}" href="{{at}}">'
        for rel in (
            *(
                "stylesheet",
                "alternate stylesheet",
                "modulepreload",
                "prefetch",
                "prerender",
                "manifest",
                "icon",
            ),
            *("apple-touch-icon", "mask-icon", "search", "import", "next", "subresource", "preconnect"),
            *("dns-prefetch", "compression-dictionary", "serviceworker", "monetization", "pingback"),
        )
    },
    **{
        f"preload-{kind}": f'<link rel=preload as={kind} href="{{at}}" crossorigin>'
        for kind in (
            *("script", "style", "fetch", "font", "image", "track", "video", "audio", "document", "worker"),
            *("object", "embed", "json", "sharedworker"),
        )
    },
    "script": '<script src="{at}"></script>',
    "script-module": '<script type=module src="{at}"></script>',
    "script-deferred": '<script defer src="{at}"></script>',
    "module-import": '<script type=module>import "{at}";</script>',
    "img": '<img src="{at}">',
    "img-srcset": '<img srcset="{at} 1x">',
    "picture": '<picture><source srcset="{at}"><img></picture>',
    "img-attribution": '<img attributionsrc="{at}" src="data:,">',
    "input-image": '<input type=image src="{at}">',
    "video": '<video src="{at}" preload=auto></video>',
    "video-source": '<video preload=auto><source src="{at}"></video>',
    "video-poster": '<video poster="{at}"></video>',
    "audio": '<audio src="{at}" preload=auto controls></audio>',
    "track": '<video src="data:video/mp4;base64,AA=="><track default kind=subtitles src="{at}"></video>',
    "embed": '<embed src="{at}">',
    "embed-svg": '<embed type="image/svg+xml" src="{at}">',
    "object": '<object data="{at}"></object>',
    "object-typed": '<object type="text/html" data="{at}"></object>',
    "background": '<table background="{at}"><tr><td>x</table>',
    "iframe": '<iframe src="{at}"></iframe>',
    "iframe-sandboxed": '<iframe sandbox src="{at}"></iframe>',
    "iframe-sandboxed-scripts": '<iframe sandbox="allow-scripts" src="{at}"></iframe>',
    "iframe-credentialless": '<iframe credentialless src="{at}"></iframe>',
    "fencedframe": '<fencedframe src="{at}"></fencedframe>',
    "portal": '<portal src="{at}"></portal>',
    "frame-data": "<iframe src=\"data:text/html,<script src='{at}'></script>\"></iframe>",
    "frame-javascript": "<iframe src=\"javascript:'<script src={at}></script>'\"></iframe>",
    "svg-use": '<svg><use href="{at}#x"/></svg>',
    "svg-image": '<svg><image href="{at}"/></svg>',
    "svg-script": '<svg><script href="{at}"></script></svg>',
    "svg-filter-image": '<svg><filter id=f1><feImage href="{at}"/></filter><rect filter="url(#f1)"/></svg>',
    "svg-text-path": '<svg><text><textPath href="{at}#p">x</textPath></text></svg>',
    "svg-gradient": '<svg><linearGradient id=g1 href="{at}#g"/><rect fill="url(#g1)"/></svg>',
    "svg-fill": '<svg><rect width=9 height=9 fill="url({at}#g)"/></svg>',
    "speculation-prefetch": '<script type=speculationrules>{"prefetch":[{"urls":["{at}"]}]}</script>',
    "speculation-prerender": '<script type=speculationrules>{"prerender":[{"urls":["{at}"]}]}</script>',
    "speculation-where": '<a href="{at}">x</a><script type=speculationrules>{"prefetch":[{"where":'
    '{"href_matches":"/left/*"},"eagerness":"immediate"}]}</script>',
    "shadow-style": '<div><template shadowrootmode=open><link rel=stylesheet href="{at}"></template></div>',
    "noscript": '<noscript><img src="{at}"></noscript>',
    "quoted": '<blockquote cite="{at}">x</blockquote><q cite="{at}">x</q>',
    "mathml": '<math href="{at}"><mi>x</mi></math>',
    "applet": '<applet code="{at}"></applet>',
}

# Styles; each is for an element of its own, `#NAME`.
STYLES = {
    "css-import": '@import "{at}";',
    "css-import-layer": "@import url({at}) layer(x);",
    "css-font": "@font-face { font-family: f1; src: url({at}) } {own} { font-family: f1 }",
    "css-background": "{own} { background: url({at}) }",
    "css-image-set": '{own} { background: image-set("{at}" 1x) }',
    "css-cross-fade": "{own} { background: -webkit-cross-fade(url({at}), url({at}), 50%) }",
    "css-list": "{own} { display: list-item; list-style-image: url({at}) }",
    "css-content": "{own}::before { content: url({at}) }",
    "css-cursor": "{own} { cursor: url({at}), auto }",
    "css-border": "{own} { border: 3px solid; border-image: url({at}) 3 }",
    "css-mask": "{own} { mask: url({at}) }",
    "css-mask-element": "{own} { mask-image: url({at}#m) }",
    "css-mask-box": "{own} { -webkit-mask-box-image: url({at}) }",
    "css-clip": "{own} { clip-path: url({at}#c) }",
    "css-filter": "{own} { filter: url({at}#f) }",
    "css-backdrop": "{own} { backdrop-filter: url({at}#f) }",
    "css-shape": "{own} { float: left; shape-outside: url({at}) }",
    "css-offset": "{own} { offset-path: url({at}#o) }",
    "css-marker": "{own}::marker { content: url({at}) }",
    "css-variable": "{own} { --x: url({at}); background: var(--x) }",
}

# Scripts; what they throw is overlooked.
SCRIPTS = {
    "fetch": "fetch('{at}')",
    "fetch-no-cors": "fetch('{at}', {mode: 'no-cors'})",
    "fetch-post": "fetch('{at}', {method: 'POST', body: 'x'})",
    "fetch-head": "fetch('{at}', {method: 'HEAD'})",
    "fetch-keepalive": "fetch('{at}', {keepalive: true})",
    "fetch-low": "fetch('{at}', {priority: 'low'})",
    "fetch-later": "fetchLater('{at}', {activateAfter: 0})",
    "fetch-dotted": "fetch('/left/./x/../fetch-dotted')",
    "fetch-query": "fetch('{at}?x=1')",
    "fetch-semicolon": "fetch('{at};x')",
    "fetch-escaped": "fetch('{at}'.replace('fetch', '%66etch'))",
    "fetch-null": "fetch('{at}%00.png')",
    "fetch-case": "fetch('{at}'.replace('/fetch', '/FETCH'))",
    "fetch-final-dot": "fetch('{at}.')",
    "fetch-topics": "fetch('{at}', {browsingTopics: true})",
    "wasm": "WebAssembly.compileStreaming(fetch('{at}'))",
    "cache": "caches.open('x').then(c => c.add('{at}'))",
    "xhr": "{ const x = new XMLHttpRequest(); x.open('GET', '{at}'); x.send(); }",
    "xhr-sync": "{ const x = new XMLHttpRequest(); x.open('GET', '{at}', false); x.send(); }",
    "xhr-document": "{ const x = new XMLHttpRequest(); x.open('GET', '{at}'); x.responseType = 'document';"
    " x.send(); }",
    "beacon": "navigator.sendBeacon('{at}', 'x')",
    "eventsource": "new EventSource('{at}')",
    "websocket": "new WebSocket('{at}'.replace('http', 'ws'))",
    "webtransport": "new WebTransport('{at}'.replace('http:', 'https:'))",
    "image": "new Image().src = '{at}'",
    "audio-object": "new Audio('{at}').play()",
    "font-face": "new FontFace('x', 'url({at})').load()",
    "import": "import('{at}')",
    "import-json": "import('{at}', {with: {type: 'json'}})",
    "import-css": "import('{at}', {with: {type: 'css'}})",
    "script-made": "document.head.append(Object.assign(document.createElement('script'), {src: '{at}'}))",
    "style-adopted": "new CSSStyleSheet().replace('@import \"{at}\"')",
    "html-set": "document.createElement('div').innerHTML = '<img src=\"{at}\">'",
    "worker": "new Worker('{at}')",
    "worker-module": "new Worker('{at}', {type: 'module'})",
    "worker-blob": "new Worker(blob(\"fetch('{at}')\"))",
    "worker-blob-xhr": "new Worker(blob(\"const x = new XMLHttpRequest(); x.open('GET', '{at}', false);"
    ' x.send()"))',
    "worker-blob-import": "new Worker(blob(\"importScripts('{at}')\"))",
    "worker-blob-module": "new Worker(blob(\"import '{at}'\"), {type: 'module'})",
    "worker-data": "new Worker('data:text/javascript,' + encodeURIComponent(\"fetch('{at}')\"))",
    "worker-nested": "new Worker(blob(`new Worker(URL.createObjectURL(new Blob([\"fetch('{at}')\"])))`))",
    "worker-socket": "new Worker(blob(\"new WebSocket('{at}'.replace('http', 'ws'))\"))",
    "worker-eventsource": "new Worker(blob(\"new EventSource('{at}')\"))",
    "shared": "new SharedWorker('{at}')",
    "shared-blob": "new SharedWorker(blob(\"fetch('{at}')\"))",
    "shared-blob-import": "new SharedWorker(blob(\"importScripts('{at}')\"), 'other')",
    "shared-data": "new SharedWorker('data:text/javascript,' + encodeURIComponent(\"fetch('{at}')\"))",
    "service": "navigator.serviceWorker.register('{at}')",
    "service-fetch": "navigator.serviceWorker.register('/worker/service-fetch.js')",
    "background-fetch": "navigator.serviceWorker.ready.then(r => r.backgroundFetch.fetch('x', ['{at}']))",
    "worklet-audio": "new OfflineAudioContext(1, 1, 44100).audioWorklet.addModule('{at}')",
    "worklet-paint": "CSS.paintWorklet.addModule('{at}')",
    "worklet-storage": "sharedStorage.worklet.addModule('{at}')",
    "open": "open('{at}')",
    "open-noopener": "open('{at}', '_blank', 'noopener')",
    "ping": "{ const a = document.createElement('a'); a.href = '#x'; a.ping = '{at}'; a.click(); }",
    "link-blank": "{ const a = document.createElement('a'); a.href = '{at}'; a.target = 'n'; a.click(); }",
    "notification": "new Notification('x', {icon: '{at}'})",
    "media-session": "navigator.mediaSession.metadata = new MediaMetadata({artwork: [{src: '{at}'}]})",
    "payment": "new PaymentRequest([{supportedMethods: '{at}'}], {total: {label: 'x', amount:"
    " {currency: 'EUR', value: '1'}}}).canMakePayment()",
    "fedcm": "navigator.credentials.get({identity: {providers: [{configURL: '{at}', clientId: 'x'}]}})",
    "interest-group": "navigator.joinAdInterestGroup({name: 'x', owner: origin, lifetimeMs: 9e6,"
    " updateURL: '{at}'}).then(() => navigator.updateAdInterestGroups())",
    "auction": "navigator.runAdAuction({seller: origin, decisionLogicURL: '{at}',"
    " interestGroupBuyers: [origin]})",
    "xslt": "{ const p = new XSLTProcessor(); p.importStylesheet(new DOMParser().parseFromString("
    '\'<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform"><xsl:template'
    ' match="/"><xsl:copy-of select="document(\\\'{at}\\\')"/></xsl:template></xsl:stylesheet>\','
    " 'text/xml')); p.transformToFragment(document, document); }",
    "turn": "{ const p = new RTCPeerConnection({iceServers: [{urls: 'turn:' + location.host +"
    " '?transport=tcp', username: 'u', credential: 'c'}]}); p.createDataChannel('x');"
    " p.createOffer().then(o => p.setLocalDescription(o)); }",
}

# Documents in frames, each in two: as it is, and sandboxed with scripts.
FRAMES = {
    "meta-refresh": '<meta http-equiv=refresh content="0; url={at}">',
    "location": "<script>location = '{at}'</script>",
    "location-replace": "<script>setTimeout(() => location.replace('{at}'), 50)</script>",
    "navigation": "<script>navigation.navigate('{at}')</script>",
    "form-get": "<form id=f action='{at}'></form><script>f.submit()</script>",
    "form-post": "<form id=f method=post action='{at}'><input name=a></form><script>f.submit()</script>",
    "form-button": "<form><button id=b formaction='{at}'></form><script>b.click()</script>",
    "form-target": "<iframe name=t></iframe><form id=f target=t action='{at}'></form>"
    "<script>f.submit()</script>",
    "link-clicked": "<a id=a href='{at}'>x</a><script>a.click()</script>",
    "link-download": "<a id=a download href='{at}'>x</a><script>a.click()</script>",
    "base": "<base href='{at}/'><script src='?x'></script>",
    "import-map": '<script type=importmap>{"imports": {"x": "{at}"}}</script>'
    '<script type=module>import "x"</script>',
    "srcdoc": "<iframe srcdoc='<script src=\"{at}\"></script>'></iframe>",
    "srcdoc-sandboxed": "<iframe sandbox=allow-scripts srcdoc=\"<script>fetch('{at}', {mode: 'no-cors'})"
    '</script>"></iframe>',
    "fetch-in-frame": "<script>fetch('{at}', {mode: 'no-cors'})</script>",
    "unload-beacon": "<script>onpagehide = () => navigator.sendBeacon('{at}');"
    " setTimeout(() => location = '/elsewhere', 100)</script>",
    "blob": "<script>location = URL.createObjectURL(new Blob([\"<script src='{at}'><\\/script>\"],"
    " {type: 'text/html'}))</script>",
    "write": "<script>document.write('<script src=\"{at}\"><\\/script>')</script>",
    "frameset": "<frameset><frame src='{at}'></frameset>",
    "xslt-of-xml": '<?xml version="1.0"?><?xml-stylesheet type="text/xsl" href="{at}"?><x/>',
    "css-of-xml": '<?xml version="1.0"?><?xml-stylesheet type="text/css" href="{at}"?><x/>',
    "dtd": '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY e SYSTEM "{at}">]><x>&e;</x>',
    "svg-document": '<svg xmlns="http://www.w3.org/2000/svg"><style>@import "{at}";</style></svg>',
    "csp-report": "<script>document.body.append(Object.assign(new Image(), {src: '/pixel'}))</script>",
    **{
        name: "<p>x<img src=/pixel>"
        for name in (
            *(
                "header-refresh",
                "header-link-preload",
                "header-link-style",
                "header-link-prefetch",
                "header-hints",
            ),
            *("header-link-module", "header-reporting", "header-nel", "header-coep", "header-speculation"),
            *(
                "header-csp-report-to",
                "header-expect-ct",
                "header-session",
                "header-dictionary",
                "header-sourcemap",
            ),
            *("header-attribution", "header-location", "header-document-policy", "header-link-manifest"),
        )
    },
}

# What their answers say.
_REPORTS = 'Reporting-Endpoints: x="{at}", default="{at}"'
HEADERS = {
    "xslt-of-xml": "Content-Type: application/xml",
    "css-of-xml": "Content-Type: application/xml",
    "dtd": "Content-Type: application/xml",
    "svg-document": "Content-Type: image/svg+xml",
    "csp-report": "Content-Security-Policy: img-src 'none'; report-uri {at}",
    "header-refresh": "Refresh: 0; url={at}",
    "header-link-preload": "Link: <{at}>; rel=preload; as=script",
    "header-link-style": "Link: <{at}>; rel=stylesheet",
    "header-link-prefetch": "Link: <{at}>; rel=prefetch",
    "header-link-module": "Link: <{at}>; rel=modulepreload",
    "header-link-manifest": "Link: <{at}>; rel=manifest",
    "header-reporting": f"Content-Security-Policy: img-src 'none'; report-to x\r\n{_REPORTS}",
    "header-csp-report-to": "Content-Security-Policy-Report-Only: default-src 'none'; report-uri {at}",
    "header-nel": 'Report-To: {"group":"n","max_age":9999,"endpoints":[{"url":"{at}"}]}\r\n'
    'NEL: {"report_to":"n","max_age":9999,"success_fraction":1.0}',
    "header-coep": f'Cross-Origin-Embedder-Policy: require-corp; report-to="x"\r\n{_REPORTS}',
    "header-document-policy": f"Document-Policy: unsized-media=?0;report-to=x\r\n{_REPORTS}",
    "header-speculation": 'Speculation-Rules: "{at}"',
    "header-expect-ct": 'Expect-CT: max-age=99, enforce, report-uri="{at}"',
    "header-session": 'Secure-Session-Registration: (ES256);path="{at}";challenge="x"',
    "header-dictionary": 'Link: <{at}>; rel="compression-dictionary"',
    "header-sourcemap": "SourceMap: {at}",
    "header-attribution": 'Attribution-Reporting-Register-Source: {"destination":"{at}"}',
    "header-location": "Content-Location: {at}",
}

# By addresses that redirect there: `/hop/NAME`.
REDIRECTED = {
    "hop-script": '<script src="/hop/hop-script"></script>',
    "hop-style": '<link rel=stylesheet href="/hop/hop-style">',
    "hop-frame": "<iframe src=/hop/hop-frame></iframe>",
    "hop-fetch": "<script>fetch('/hop/hop-fetch')</script>",
    "hop-post": "<script>fetch('/hop/hop-post', {method: 'POST', body: 'x'})</script>",
    "hop-worker": "<script>new Worker('/hop/hop-worker')</script>",
    "hop-event": "<script>new EventSource('/hop/hop-event')</script>",
    "hop-beacon": "<script>navigator.sendBeacon('/hop/hop-beacon')</script>",
    "hop-object": "<object data=/hop/hop-object></object>",
}

WAYS = (*ELEMENTS, *STYLES, *SCRIPTS, *FRAMES, *REDIRECTED)


def filled(text: str, name: str, base: str) -> str:
    """A way's text, with its address in it."""
    return text.replace("{at}", f"{base}/left/{name}").replace("{own}", f"#{name}")


def page_of_ways(base: str) -> str:
    """A page that goes all of them."""
    elements = "".join(filled(text, name, base) for name, text in (ELEMENTS | REDIRECTED).items())
    imports = "".join(
        f"<style>{filled(text, name, base)}</style><b id={name}>x</b>" for name, text in STYLES.items()
    )
    frames = "".join(
        f"<iframe src=/frame/{name}></iframe><iframe sandbox=allow-scripts src=/frame/{name}></iframe>"
        for name in FRAMES
    )
    scripts = "\n".join(
        f"try {{ Promise.resolve((() => {{ return {text} }})()).catch(() => 0) }} catch (e) {{}}"
        if not text.startswith("{")
        else f"try {text} catch (e) {{}}"
        for text in (filled(each, name, base) for name, each in SCRIPTS.items())
    )
    return (
        f"<!doctype html><meta charset=utf-8><title>t</title><p>the page itself</p>{elements}{imports}"
        f"<script>const blob = (text) => URL.createObjectURL(new Blob([text]));\n{scripts}</script>{frames}"
        "<p>read to its end</p>"
    )
