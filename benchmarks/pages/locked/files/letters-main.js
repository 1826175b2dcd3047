(()=>{const h=React.createElement,{lazy,Suspense,StrictMode}=React;
const chunk=n=>new Promise((ok,no)=>{const s=document.createElement("script");s.src="/ui/assets/"+n+".chunk.js";s.onload=()=>ok({default:window.__chunks[n]});s.onerror=no;document.head.appendChild(s)});
const Letter=lazy(()=>chunk("letter"));
const Shell=({children})=>h("div",{className:"shell"},h("header",null,h("a",{href:"/letters"},"Letters"),h("nav",null,h("a",{href:"/letters/archive"},"Archive"),h("a",{href:"/letters/write"},"Write to us"))),h("main",null,children));
ReactDOM.createRoot(document.getElementById("app")).render(h(StrictMode,null,h(Shell,null,h(Suspense,{fallback:h("p",{className:"wait"},"One moment")},h(Letter,{slug:location.pathname.split("/").pop()})))));
})();
