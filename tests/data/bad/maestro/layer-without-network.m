Layer A { Type: CONV }
