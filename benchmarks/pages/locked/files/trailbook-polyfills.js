globalThis.__zone_symbol__x=1;export{};
