@echo off
rem The USI engine for Windows: let your shogi GUI start this file.
setlocal
set "here=%~dp0"
rem A window of its own tells what the first start does, as a GUI hides this one.
rem The path stays out of its command: quotes within quotes would lay open an & in it.
if not exist "%here%engine\ready" start "LiteShogi" /wait /d "%here%." cmd /c ".\setup.bat <nul >con 2>&1"
if not exist "%here%engine\ready" exit /b 1
"%here%engine\Scripts\python.exe" -I -m liteshogi %*
