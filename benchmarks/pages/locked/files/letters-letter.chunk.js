(window.__chunks=window.__chunks||{}).letter=(()=>{const h=React.createElement,{useState,useEffect}=React;
return function Letter({slug}){const[d,set]=useState(null);useEffect(()=>{let on=true;fetch("/ui/data/letters/"+slug+".json").then(r=>r.json()).then(x=>{if(on){set(x);document.title=x.title+" - Letters"}});return()=>{on=false}},[slug]);
if(!d)return h("div",{className:"lines","aria-busy":true},h("i"),h("i"),h("i"));
return h("article",null,h("h1",null,d.title),h("p",{className:"from"},d.from),d.body.map((p,i)=>h("p",{key:i},p)))}})();
