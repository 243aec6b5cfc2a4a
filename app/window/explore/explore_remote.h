#pragma once

// A search that another program runs: `orrery-cli`, started by a person's command (`mpirun -n 4 {orrery}`,
// `srun -n 64 {orrery}`, `ssh host orrery-cli {arguments}`), followed line by line. No shell reads the command.

#include "base/progress.h"
#include "store/project/search_file.h"
#include "study/exploration/agents.h"

#include <QString>
#include <QStringList>

#include <functional>
#include <stop_token>

namespace orrery::app {

/// The words of a command with `{orrery}` (the path of orrery-cli), `{folder}` and `{arguments}` (at the end where it
/// does not stand) filled in. Quotes keep words together; nothing else is special. What ssh would give to a shell at
/// its other end is quoted for it. Fails with `explore.command`: no word, no place for the program, another `{…}`.
Expected<QStringList> commandWords(const QString& command, const QString& program, const QString& folder,
                                   const QStringList& arguments);
/// orrery-cli beside this program; its bare name where it is not there.
QString commandLineProgram();

struct RemoteSearch {
    QString command;       ///< as a person wrote it
    QString folder;        ///< of its files and its run store; made if it is not there
    int silence = 60'000;  ///< ms without a line after which it is ended: it prints one each second
};
/// Writes the search into the folder, starts the command, and gives the points as they come; batches as runSearch() has
/// them. Goes on with what the folder's run store has. Blocks; looks at the token ten times a second and then ends the
/// command. Fails with `explore.command` where it cannot be started, ends badly (with the end of its standard error),
/// says nothing, or answers another question.
Expected<PointAnswers> searchElsewhere(const RemoteSearch& how, const SearchProblem& problem, const AgentInfo& agent,
                                       const std::vector<SearchPart>& files, const SearchOptions& options,
                                       bool* stopped);

}  // namespace orrery::app
