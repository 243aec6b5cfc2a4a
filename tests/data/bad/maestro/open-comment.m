Network N { /* never closed
