@echo off
rem Done by the first start of LiteShogi.bat, or by hand: an engine of its own in the folder "engine".
setlocal
title LiteShogi: the first start
cd /d "%~dp0"
echo LiteShogi sets itself up. That is done once, takes a few minutes and needs the Internet.
echo This window closes by itself. If your GUI has not waited, start the engine again.
echo.
set "python="
for %%p in ("py -@PYTHON@" "py -3" "python") do if not defined python (
    %%~p -c "import sys; sys.exit(sys.version_info < (3, 11))" >nul 2>nul && set "python=%%~p"
)
if not defined python (
    echo Python 3.11 or later is missing. Install it from https://www.python.org/downloads/ and start again.
    goto failed
)
%python% -m venv --clear engine || goto failed
rem The engine from here alone; then what it needs, best in the versions that it was compiled with.
set "install=engine\Scripts\python.exe -I -m pip install --disable-pip-version-check"
%install% --no-index --no-deps --find-links wheels liteshogi==@VERSION@ || goto failed
%install% --constraint wheels\compiled-with.txt liteshogi==@VERSION@ || %install% liteshogi==@VERSION@ || goto failed
echo.
echo Compiling what did not come compiled: seconds, or about a minute ...
engine\Scripts\python.exe -I -m liteshogi warmup || goto failed
echo @VERSION@>engine\ready
exit /b 0

:failed
echo.
echo LiteShogi could not be set up; the lines above tell why.
ping -n 60 127.0.0.1 >nul
exit /b 1
