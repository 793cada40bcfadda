{
 "format": "cbpe signature 1",
 "name": "cats",
 "number": 2,
 "sha256": "f16267eb10b20555daa012a2a10151c8126ffc33bba6c80c50cbe8661ab4c1bc",
 "signature": "98bef1377ac812ff62e4235d0321578fbf223d9f3bc470af44c1c8c2bef60cad3daf0bcde32a6ff764610b59d7c598c4b5b16fe1d104535ff21da73495657008"
}
