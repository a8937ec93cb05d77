throw new SyntaxError("this module cannot be loaded");
