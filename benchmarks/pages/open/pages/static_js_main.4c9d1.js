(()=>{const h=React.createElement,{useState,useEffect}=React;
function Nav(){return h("nav",{className:"topnav"},["Home","Training","Food","Ask Mara"].map(t=>h("a",{key:t,href:"/"+t.toLowerCase()},t)))}
function Post({slug}){const[p,set]=useState(null);useEffect(()=>{fetch("/api/v1/posts/"+slug).then(r=>r.json()).then(set)},[slug]);
if(!p)return h("div",{className:"loader"},"Loading...");document.title=p.title+" | Patient Paws";return h("article",{className:"post"},h("h1",null,p.title),h("p",{className:"date"},p.date),p.body.map((t,i)=>h("p",{key:i},t)))}
function App(){const slug=window.location.pathname.split("/").pop();return h(React.Fragment,null,h(Nav),h("main",null,h(Post,{slug})),h("footer",null,"© Patient Paws. Made with love and biscuits."))}
ReactDOM.createRoot(document.getElementById("root")).render(h(App))})();