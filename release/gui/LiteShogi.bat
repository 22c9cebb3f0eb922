@echo off
rem The USI engine for Windows: let your shogi GUI start this file.
setlocal
set "here=%~dp0"
rem A window of its own tells what the first start does, as a GUI hides this one.
if not exist "%here%engine\ready" start "LiteShogi" /wait cmd /c ""%here%setup.bat" <nul >con 2>&1"
if not exist "%here%engine\ready" exit /b 1
"%here%engine\Scripts\python.exe" -I -m liteshogi %*
